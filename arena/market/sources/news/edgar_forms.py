"""Forms of the SEC and items of form 8-K in plain words (forms: sec.gov/forms; items: Form 8-K itself)."""

from __future__ import annotations

from arena.market.news.items import Kind

FORMS = {
    "10-K": "annual report",
    "10-Q": "quarterly report",
    "20-F": "annual report of a foreign company",
    "40-F": "annual report of a Canadian company",
    "8-K": "current report",
    "6-K": "current report of a foreign company",
    "11-K": "annual report of an employee plan",
    "NT 10-K": "notice that the annual report is late",
    "NT 10-Q": "notice that the quarterly report is late",
    "ARS": "annual report to shareholders",
    "DEF 14A": "proxy statement",
    "DEFA14A": "more proxy material",
    "PRE 14A": "draft of a proxy statement",
    "3": "first holdings of an insider",
    "4": "trades of an insider",
    "5": "yearly list of an insider's trades",
    "144": "intended sale by an insider",
    "SC 13D": "a holder of more than 5 %, with its aims",
    "SCHEDULE 13D": "a holder of more than 5 %, with its aims",
    "SC 13G": "a passive holder of more than 5 %",
    "SCHEDULE 13G": "a passive holder of more than 5 %",
    "S-1": "registration of securities",
    "S-3": "registration of securities",
    "S-3ASR": "registration of securities",
    "S-4": "registration of securities for a merger",
    "S-8": "registration of shares for employees",
    "FWP": "offer of securities",
    "SD": "report on conflict minerals",
    "25": "removal from an exchange",
    "25-NSE": "removal from an exchange",
}

ITEMS_8K = {
    "1.01": "a material agreement",
    "1.02": "end of a material agreement",
    "1.03": "bankruptcy or receivership",
    "1.05": "a material cyber incident",
    "2.01": "an acquisition or sale of assets completed",
    "2.02": "results of operations",
    "2.03": "a new financial obligation",
    "2.04": "an obligation due early",
    "2.05": "costs of leaving a business",
    "2.06": "a material impairment",
    "3.01": "notice of delisting",
    "3.02": "an unregistered sale of shares",
    "3.03": "changed rights of holders",
    "4.01": "change of auditor",
    "4.02": "earlier statements no longer to be relied on",
    "5.01": "change of control",
    "5.02": "change of directors or officers",
    "5.03": "changed articles or fiscal year",
    "5.07": "votes of shareholders",
    "5.08": "nomination of directors",
    "7.01": "news given to all investors at once",
    "8.01": "other events",
    "9.01": "statements and exhibits",
}

PERIODIC = ("10-K", "10-Q", "20-F", "40-F", "11-K")

PUBLIC_LATER = frozenset({"CORRESP", "UPLOAD", "LETTER", "DRS", "DRSLTR"})
"""Letters with the SEC and drafts: accepted on one day, shown to the public weeks after it."""


def plain(form: str) -> tuple[str, bool]:
    """The form without "/A", and whether it amends an earlier filing."""
    return form.removesuffix("/A"), form.endswith("/A")


def kind_of(form: str) -> Kind:
    """Annual and quarterly reports are layers of their own to agents; all else is "other"."""
    if form.startswith("10-K"):
        return "filing-10k"
    return "filing-10q" if form.startswith("10-Q") else "filing-other"


def title(company: str, form: str, report_date: str, items: str) -> str:
    """`Tesla: 10-Q for the period ending 2025-06-30`; `Tesla: 8-K (results of operations)`."""
    base, _ = plain(form)
    if base.startswith(PERIODIC) and report_date:
        return f"{company}: {form} for the period ending {report_date}"
    said = _items(items) if base == "8-K" else FORMS.get(base, "")
    if base.startswith("424B"):
        said = "prospectus"
    return f"{company}: {form} ({said})" if said else f"{company}: {form}"


def text(company: str, form: str, report_date: str, items: str, filed: str) -> str:
    """What the index alone says of the filing, in a few sentences."""
    base, amends = plain(form)
    meaning = f", {FORMS[base]}" if base in FORMS else ""
    lines = [f"{company} filed form {form}{meaning}, with the SEC on {filed}."]
    if base == "4" or base == "144" or base.startswith(("SC", "3", "5")):
        lines = [f"Form {form}{meaning}, was filed about {company} with the SEC on {filed}."]
    if amends:
        lines.append("It amends an earlier filing.")
    if base.startswith(PERIODIC) and report_date:
        lines.append(f"It covers the period ending {report_date}.")
    if base == "8-K" and items:
        lines.append(f"It reports: {_items(items)}.")
    return " ".join(lines)


def _items(items: str) -> str:
    """ "2.02,9.01" in words. Exhibits come with nearly every report: alone they are worth a word."""
    numbers = [number.strip() for number in items.split(",") if number.strip()]
    told = [n for n in numbers if n != "9.01"] or numbers
    return "; ".join(ITEMS_8K.get(n, f"item {n}") for n in told)
