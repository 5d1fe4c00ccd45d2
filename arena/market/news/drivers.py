"""Which price drivers a text speaks of, by its words: four a class, the same for every asset in it.

The lists are English, and count whole words and pairs or triples of words. What is implied, negated or
feared counts like what happened: a driver says what a text is about, not which way it points.
"""

from __future__ import annotations

import re
from itertools import pairwise

from arena.core.types import AssetClass

COMPANY_DRIVERS = ("results", "company", "policy", "market")
COIN_DRIVERS = ("network", "adoption", "policy", "market")

DRIVERS: dict[AssetClass, tuple[str, str, str, str]] = {
    "stock": COMPANY_DRIVERS,
    "etf": COMPANY_DRIVERS,
    "crypto": COIN_DRIVERS,
}
"""The drivers of a class, in the order in which they are always named."""

MEANING: dict[str, str] = {
    "results": "what was earned and sold, and what is expected to be",
    "company": "products, customers, deals, people, trials and lawsuits",
    "network": "the protocol and its safety: upgrades, mining, staking, fees, hacks",
    "adoption": "who holds and uses it: funds, treasuries, payments, listings",
    "policy": "laws, authorities, courts, central banks and trade",
    "market": "trading itself: prices, flows, ratings, positions and risk appetite",
}

_POLICY = """
    sec|cftc|fed|fomc|powell|ecb|regulator|regulators|regulatory|regulation|regulations|legislation|
    lawmakers|congress|senate|senator|parliament|bill|law|laws|tariff|tariffs|sanction|sanctions|
    subsidy|subsidies|tax|taxes|ban|bans|banned|white house|trump administration|executive order|
    supreme court|central bank|central banks|federal reserve|interest rate|interest rates|rate cut|
    rate cuts|rate hike|rate hikes|inflation|cpi|government shutdown|export controls|trade war|
    trade deal|antitrust|ftc|doj|justice department|treasury department|european commission|
    enforcement action|compliance|license|licence|election|geopolitical|policy
"""
_MARKET = """
    shares|stock price|price target|price targets|rating|ratings|upgrade to buy|upgraded|downgrade|
    downgraded|downgrades|upgrades|overweight|underweight|outperform|analyst|analysts|valuation|
    rally|rallies|rallied|selloff|sell-off|sell off|surge|surges|surged|plunge|plunges|plunged|
    soar|soars|soared|slump|slumps|tumble|tumbles|tumbled|record high|all-time high|all time high|
    bull market|bear market|bullish|bearish|volatility|trading volume|short interest|short sellers|
    options|call options|put options|futures|open interest|inflows|outflows|liquidity|
    moving average|resistance|support level|technical analysis|market cap|correction|rebound|
    rebounds|overbought|oversold|dip|nasdaq composite|wall street|stocks|investors|hedge fund|
    insider selling|stake|stock to buy|stocks to buy|stock a buy|hold rating|buy rating|volatile|institutional investors|treasury yields|risk appetite|undervalued|overvalued
"""

_WORDS: dict[str, str] = {
    "results": """
        earnings|revenue|revenues|sales|profit|profits|margin|margins|eps|guidance|outlook|forecast|
        forecasts|deliveries|net income|net loss|operating income|
        free cash flow|cash flow|results|dividend|dividends|buyback|buybacks|repurchase|beat estimates|
        missed estimates|estimates|consensus estimate|top line|bottom line|bookings|backlog|
        subscribers|profitability|gross margin|annual report|fiscal year|cost cuts|capex
    """,
    "company": """
        product|products|launch|launches|launched|unveils|unveiled|model|factory|plant|production|
        recall|recalls|ceo|cfo|chief executive|executive|board|layoffs|hires|resigns|acquire|acquires|
        acquired|acquisition|merger|merge|takeover|buyout|spin-off|spinoff|partnership|partners|partner|
        contract|contracts|deal|agreement|supplier|suppliers|customer|customers|lawsuit|sued|sues|
        settlement|patent|patents|fda|approval|approves|approved|trial|trials|phase|drug|therapy|
        clinical|data breach|outage|robotaxi|robotaxis|autopilot|chip|chips|data center|data centers|
        strike|union|investigation|probe|pipeline|expansion|competitor|competitors|rival|rivals
    """,
    "network": """
        upgrade|hard fork|soft fork|fork|mainnet|testnet|protocol|blockchain|on-chain|onchain|on chain|
        validator|validators|staking|staked|restaking|miner|miners|mining|hashrate|hash rate|
        mining difficulty|difficulty adjustment|halving|halvening|gas fees|gas fee|transaction fees|
        transactions|layer 2|layer-2|l2|rollup|rollups|lightning network|taproot|ordinals|
        inscriptions|runes|smart contract|smart contracts|developers|core developers|eip|bip|dencun|
        pectra|fusaka|shapella|merge|scaling|scalability|throughput|node|nodes|client|bug|exploit|
        exploited|hack|hacked|hacker|hackers|vulnerability|51% attack|quantum computing|
        quantum|proof of stake|proof of work|proof-of-stake|proof-of-work|block size|mempool|utxo|defi|
        addresses|sidechain|sidechains|block builders|airdrop|token contract|network|burned|issuance|vitalik|buterin
    """,
    "adoption": """
        etf|etfs|etp|spot etf|blackrock|fidelity|grayscale|ibit|treasury|treasuries|microstrategy|
        strategy inc|saylor|metaplanet|sharplink|bitmine|institutional|institutions|adoption|adopts|
        adopt|adopted|accepts|accepting|accept|payment|payments|merchant|merchants|paypal|visa|
        mastercard|stripe|stablecoin|stablecoins|tokenized|tokenization|tokenize|partnership|
        integrates|integration|wallet|wallets|listing|listed|lists|custody|reserve|reserves|
        legal tender|el salvador|pension|pensions|endowment|retail investors|users|nft|nfts|atm|atms|
        holdings|bought|buys|purchase|purchases|acquires|accumulate|accumulation|remittances|banks|bank
    """,
    "policy": _POLICY,
    "market": _MARKET,
}
_COIN_MARKET = """
    price|prices|liquidation|liquidations|liquidated|whale|whales|leverage|funding rate|traders|
    trading|dominance|altcoin|altcoins|altseason|long positions|short positions|price analysis|
    price prediction|derivatives|exchange outflows|btc price|profit-taking|capitulation|
    market sentiment|fear and greed
"""
_TOKEN = re.compile(r"[a-z0-9$%&]+(?:[-'’][a-z0-9]+)*")
_POSSESSIVE = re.compile(r"['’]s\b")


def _phrases(listed: str) -> frozenset[str]:
    return frozenset(" ".join(p.split()) for p in listed.split("|") if p.strip())


_PHRASES = {driver: _phrases(listed) for driver, listed in _WORDS.items()}
_OF_COINS = {**_PHRASES, "market": _PHRASES["market"] | _phrases(_COIN_MARKET)}


def drivers_of(asset_class: AssetClass, title: str, text: str) -> tuple[str, ...]:
    """The drivers of the class that the text speaks of, in the order of `DRIVERS`; () for none."""
    words = _TOKEN.findall(_POSSESSIVE.sub("", f"{title} . {text}".lower()))
    said = set(words)
    said.update(map(" ".join, pairwise(words)))
    said.update(map(" ".join, zip(words, words[1:], words[2:], strict=False)))
    phrases = _OF_COINS if asset_class == "crypto" else _PHRASES
    return tuple(d for d in DRIVERS[asset_class] if not phrases[d].isdisjoint(said))
