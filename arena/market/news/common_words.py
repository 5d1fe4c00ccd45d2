"""Words that stand in so many market headlines and leads that they tell no event from another.

Function words, the calendar, and the vocabulary of prices, ratings, holdings, results and law. Names
of companies are not among them: those that an asset is always called by are found by counting.
"""

from __future__ import annotations

COMMON_WORDS = frozenset(
    """
    a about above according across after again against ago ahead all almost along already also although
    am amid amidst among an and another any approximately are around as at away back be became because
    become been before behind being below best better between big biggest both bring bringing broader
    but by can claims come comes coming could day days despite did do does done down due during each
    early end even ever every example few find first five following follows for four from full further
    get gets getting give given go goes going good got great had has have having he help helped helps
    her here here's high higher highest highlighted highlighting highlights highs him his hold how
    however i if in include including indicated indicates indicating into is it it's its itself just
    keep key know known large larger largest last late later latest learn least less let like likely
    line little long look looking looks lot low lower lowest made main mainly make makes making many may
    me meanwhile might more most much must my near nearly need needs never new news next no not nothing
    noted notes now of off often on once one only onto open or other others our out over own part
    particularly past per place plan planned planning plans point points potential potentially previous
    previously provide provided provides put rather read reached really regarding related remain
    remained remains representing right said same saw say saying says second see seeing seek seeking
    seen sees set several she should show showed showing shows side significant significantly since six
    skip small so some something soon start started still strong such suggest suggested suggesting
    suggests support take taken takes taking than that that's the their them then there these they thing
    things think third this those three through time times to today together told too took top toward
    towards two under until up upcoming upon us use used using very via view want was way we well were
    what what's when where whether which while who why will with within without won't worth would yet
    you your
    monday tuesday wednesday thursday friday saturday sunday january february march april june july
    august september october november december jan feb mar apr jun jul aug sep sept oct nov dec week
    weekly weekend weeks month monthly months quarter quarterly quarters annual annually year years
    year-over-year year-end yesterday tomorrow tonight morning afternoon evening daily hour hours minute
    minutes recent recently current currently ongoing q1 q2 q3 q4 h1 h2 fiscal
    acquire acquired acquires acquiring acquisition action active activity added adding addition
    additional adjusted advance advanced advances advancing advice advisers advisor advisors alert all-time
    amount analysis analyst analyst's analysts announce announced announcement announces appear average
    b bank banks based bearish bears beat beating beats believe believes bet bets bid billion board boost
    boosted boosting boosts bought brokerage brokerages bull bullish bulls business businesses buy buyers
    buying buys capital cash cap cent ceo cents chair change changed changes chart charts chief climb
    climbed climbing climbs close closed closing co commentary common companies company company's compared
    comparison concern concerns confidence consecutive consensus consider considered continue continued
    continues continuing contribute contributed contributing contribution corp corporate corporation cost
    costs cover coverage cramer credit cut cuts data deal deals debt decision decline declined declines
    declining decrease decreased decreases decreasing deliver delivered delivering demand details dip
    director discuss discussed discusses dividend dividends dollar dollars double double-digit dow dow's
    downgrade downgraded downgrades drive driven driver drivers drives driving drop dropped dropping drops
    earning earnings economic economy edge edges enhance enhanced enterprise eps equities equity estimate
    estimated estimates etf etfs exceed exceeded exceeding exceeds exchange exchanges executive executives
    exec expand expanded expanding expands expansion expect expectation expectations expected expects
    experienced experiencing face faces facing fall fallen falling falls fed federal fell file filed filing
    finance financial financials firm firm's firms flat flow flows focus focused focusing forecast
    forecasted forecasts forward free fund fund's funds future futures gain gained gaining gains general
    global government grew group group's grow growing grows growth guidance half headline hedge hike hit
    hits hitting holder holders holding holdings holds huge impact impacted improve improved inc inc's
    income incorporated increase increased increases increasing increasingly index indices individual
    industrial industrials industries industry inflation initiated insider insiders insight insights
    institution institutional institutions interest international invest invested investing investment
    investments investor investors invests issue issued issues item jobs join jump jumped jumps label
    lead leader leaders leadership leading leads led level levels listed live llc long-term lose loses
    losing loss losses lost lowered lowering lowers ltd maintain maintained maintaining maintains major
    majority manage management manager managers mandate margin margins mark market market's markets mid
    million mixed moderate momentum money move moved movement moves moving nasdaq nature negative net
    neutral nyse observers offer offered offering offers officer operating operation operations
    opportunities opportunity optimism optimistic option options outlook outperform outperformance
    outperformed outperforming overall overvalued overweight owned owner ownership owns pace partner
    partners partnership pay paying pays peer peers percent percentage perform performance performed
    performing period pick picks platform platforms plc policy pop popular portfolio position positioned
    positioning positions positive positively post posted posting posts power predict predicted prediction
    predictions premium present presented presents president pressure pressures price priced prices pricing
    product products profit profitability profitable profits program project projected projections projects
    prospect prospects public publish published purchase purchased purchases purchasing push pushes quality
    raise raised raises raising rallied rallies rally range rate rated rates rating ratings ratio reach
    reaches reaching reaction reason reasons rebound receive received receives recommend recommendation
    recommendations recommended record recover recovered recovery reduce reduced reduces reducing reflect
    reflecting reflects regulatory reiterate reiterated reiterates reiterating release released releases
    relevance report reported reportedly reporting reports representing research reserve resistance result
    results retail retain retained retaining return returned returning returns revenue revenues review
    revised rise risen rises rising risk risks risky rival rivals robust role rose run running s&p sale
    sales sector sectors securities security segment sell sellers selling sells sentiment session sessions
    share shareholder shareholders shares sharp sharply shift short short-term signal signals sits slide
    slides slightly slip slipped slips soar soared soaring soars sold solid source sources spending
    spot stable stake stakes stand standing stands statement states statistics steady step stock stock's
    stockholder stockholders stocks strategic strategies strategy street street's strength strengthen
    strengthened strengthening stronger substantial substantially success successful supply surge surged
    surges surging target targeted targets technical tech term terms total track trade traded trader
    traders trades trading transaction transactions transcript trend trends trillion turn turned turning
    turns uncertainty undervalued underperform underperformed underweight unit unchanged update updated
    updates upgrade upgrades upside upward valuation valuations value valued values volatile volatility
    volume volumes vs wake wall warn warned warning warns watch watching weak weakness wealth
    weigh weighs weight win wins worse worst yield yields zacks
    ada avalanche avax bnb cardano chainlink doge dogecoin dot ltc litecoin matic polygon ripple shib sol
    solana trx uni xrp com
    adoption assets asset bitcoin bitcoin's blockchain btc coin coins crypto crypto's cryptocurrencies
    cryptocurrency digital eth ether ethereum ethereum's token tokens altcoin altcoins
    agreement ai american america china country customer customers launch launched launches launching
    national services service software solution solutions states system systems technologies technology
    u.s u.s. united world worldwide usa us-based
    boom cagr comprehensive copy download downloaded dynamics fourth-quarter first-quarter letter letters
    predicts recorded restraints second-quarter study third-quarter
    amundi charles fmr geode invesco jennison mellon norges schwab ubs vanguard
    account asia column content contentskip continue currencies europe home homepage loading login menu navigation navigationskip newsletter oops page pages
    politics reading weather went wrong
    search sign skip subscribe watchlist
    article articles blog commented compiled cramer cramer's full-year jim list lists premarket pre-market
    prnewswire stock-market trending ticker tickers year-to-date
    alleged allegedly alleges attorney attorneys behalf claim claiming class damages false fraud incurred
    losing misleading suffered violated violations contact deadline firm investigation law laws lawsuit lawsuits lead-plaintiff
    legal llp notice plaintiff plaintiffs recovery remind reminds rights seek shareholders sue sued sues suit urges
    """.split()  # noqa: SIM905
)

SHORT_FORMS = {
    "chief executive officer": "ceo",
    "chief executive": "ceo",
    "chief financial officer": "cfo",
    "chief operating officer": "coo",
    "chief technology officer": "cto",
    "exchange-traded fund": "etf",
    "federal reserve": "fed",
    "securities and exchange commission": "sec",
}
"""Said in full by one outlet and in short by the next; the longer of two comes first."""
