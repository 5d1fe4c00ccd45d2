"""From XBRL tags to our fields: for each field its tags, the best first.

A line is a sum of terms: `-Tag` is subtracted, `Tag?` may be missing, all other terms must be
stated for the period. Of several lines the first that can be worked out counts. Tags are of the
taxonomies us-gaap and dei; companies that report in IFRS or in another currency have none of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena.market.filings.fields import FIELDS

_EQUITY_AND_MINORITIES = "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest"
_DEBT_AND_LEASES = "LongTermDebtAndCapitalLeaseObligations"

LINES: dict[str, tuple[str, ...]] = {
    "revenue": (
        "Revenues",
        "RevenueFromContractWithCustomerExcludingAssessedTax",
        "RevenueFromContractWithCustomerIncludingAssessedTax",
        "SalesRevenueNet",
        "SalesRevenueGoodsNet",
        "RevenuesNetOfInterestExpense",
    ),
    "gross_profit": (
        "GrossProfit",
        "Revenues -CostOfRevenue",
        "Revenues -CostOfGoodsAndServicesSold",
        "RevenueFromContractWithCustomerExcludingAssessedTax -CostOfRevenue",
        "RevenueFromContractWithCustomerExcludingAssessedTax -CostOfGoodsAndServicesSold",
        "SalesRevenueNet -CostOfGoodsSold",
    ),
    "operating_income": ("OperatingIncomeLoss",),
    "net_income": (
        "NetIncomeLoss",
        "NetIncomeLossAvailableToCommonStockholdersBasic",
        "ProfitLoss",
    ),
    "d_and_a": (
        "DepreciationDepletionAndAmortization",
        "DepreciationAmortizationAndAccretionNet",
        "DepreciationAndAmortization",
        "Depreciation AmortizationOfIntangibleAssets?",
    ),
    "rd": (
        "ResearchAndDevelopmentExpense",
        "ResearchAndDevelopmentExpenseExcludingAcquiredInProcessCost",
    ),
    "interest_expense": (
        "InterestExpense",
        "InterestExpenseNonoperating",
        "InterestExpenseDebt",
        "InterestAndDebtExpense",
    ),
    "eps": ("EarningsPerShareDiluted", "EarningsPerShareBasicAndDiluted", "EarningsPerShareBasic"),
    "operating_cash_flow": (
        "NetCashProvidedByUsedInOperatingActivities",
        "NetCashProvidedByUsedInOperatingActivitiesContinuingOperations",
    ),
    "capex": (
        "PaymentsToAcquirePropertyPlantAndEquipment",
        "PaymentsToAcquireProductiveAssets",
        "PaymentsToAcquireOtherPropertyPlantAndEquipment",
    ),
    "dividends": (
        "PaymentsOfDividends",
        "PaymentsOfDividendsCommonStock",
        "PaymentsOfOrdinaryDividends",
    ),
    "buybacks": ("PaymentsForRepurchaseOfCommonStock", "PaymentsForRepurchaseOfEquity"),
    "shares": (
        "EntityCommonStockSharesOutstanding",
        "CommonStockSharesOutstanding",
        "WeightedAverageNumberOfDilutedSharesOutstanding",
        "WeightedAverageNumberOfSharesOutstandingBasic",
    ),
    "equity": (
        "StockholdersEquity",
        _EQUITY_AND_MINORITIES,
    ),
    "assets": ("Assets", "LiabilitiesAndStockholdersEquity"),
    "liabilities": (
        "Liabilities",
        f"LiabilitiesAndStockholdersEquity -{_EQUITY_AND_MINORITIES}",
        "LiabilitiesAndStockholdersEquity -StockholdersEquity",
    ),
    "current_assets": ("AssetsCurrent",),
    "current_liabilities": ("LiabilitiesCurrent",),
    "cash": (
        "CashAndCashEquivalentsAtCarryingValue",
        "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents",
        "Cash",
    ),
    "debt": (
        f"{_DEBT_AND_LEASES} {_DEBT_AND_LEASES}Current? ShortTermBorrowings?",
        "LongTermDebtNoncurrent DebtCurrent",
        "LongTermDebtNoncurrent LongTermDebtCurrent? ShortTermBorrowings? CommercialPaper?",
        "LongTermDebt ShortTermBorrowings? CommercialPaper?",
        "ConvertibleDebtNoncurrent ConvertibleDebtCurrent?",
        "ConvertibleLongTermNotesPayable ConvertibleNotesPayableCurrent?",
        "DebtLongtermAndShorttermCombinedAmount",
    ),
    "intangible_assets": (
        "IntangibleAssetsNetIncludingGoodwill",
        "IntangibleAssetsNetExcludingGoodwill Goodwill?",
        "FiniteLivedIntangibleAssetsNet Goodwill?",
        "Goodwill",
    ),
    "tax_rate": ("EffectiveIncomeTaxRateContinuingOperations",),
}

_UNITS = {"eps": "USD/shares", "shares": "shares", "tax_rate": "pure"}
COVER_COUNT = "EntityCommonStockSharesOutstanding"
"""Counted for the cover of a filing, weeks after the period that it belongs to."""


@dataclass(frozen=True, slots=True)
class Term:
    tag: str
    sign: int
    needed: bool


def _terms(line: str) -> tuple[Term, ...]:
    return tuple(
        Term(word.strip("-?"), -1 if word[0] == "-" else 1, word[-1] != "?")
        for word in line.split()
    )


RECIPES: dict[str, tuple[tuple[Term, ...], ...]] = {
    field: tuple(map(_terms, LINES[field])) for field in FIELDS if field in LINES
}

FIELDS_OF: dict[str, tuple[str, ...]] = {
    tag: tuple(f for f, lines in RECIPES.items() if any(t.tag == tag for ln in lines for t in ln))
    for tag in dict.fromkeys(t.tag for lines in RECIPES.values() for ln in lines for t in ln)
}
"""The fields in which a tag has a part; all of a tag's fields have one unit."""

UNIT_OF: dict[str, str] = {tag: _UNITS.get(names[0], "USD") for tag, names in FIELDS_OF.items()}
