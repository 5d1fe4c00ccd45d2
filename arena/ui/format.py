"""Numbers and dates for people. Fractions inside, percent only here; a missing value is an en dash."""

from __future__ import annotations

from datetime import date, datetime

MINUS = "\u2212"
MISSING = "\u2013"


def percent(frac: float | None, digits: int = 1, *, sign: bool = True) -> str:
    """0.141 -> +14.1%, with a true minus."""
    if frac is None:
        return MISSING
    text = f"{100 * frac:{'+' if sign else ''}.{digits}f}%"
    if text.strip("+-%").strip("0.") == "":
        text = text.lstrip("+-")
    return text.replace("-", MINUS)


def points(frac: float | None) -> str:
    """A difference of fractions in percentage points: 0.071 -> +7.1 pp."""
    return MISSING if frac is None else percent(frac).removesuffix("%") + " pp"


def ratio(value: float | None) -> str:
    return MISSING if value is None else f"{value:.2f}".replace("-", MINUS)


def signed(value: float) -> str:
    """A score in [-1, 1]: +0.70, 0.00, with a true minus."""
    text = f"{value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", MINUS)


def counted(n: int, one: str, many: str | None = None) -> str:
    """1 story, 3 stories; `many` where an s does not make the plural."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def money(value: float | None) -> str:
    """$123,456; negative balances with a true minus."""
    if value is None:
        return MISSING
    return f"{MINUS if value < 0 else ''}${abs(value):,.0f}"


def day(value: date | datetime | str) -> str:
    """1 Aug 2025."""
    moment = date.fromisoformat(value[:10]) if isinstance(value, str) else value
    return f"{moment.day} {moment:%b %Y}"


def weekday(value: date) -> str:
    """Fri 1 Aug 2025."""
    return f"{value:%a} {day(value)}"


def moment(value: datetime) -> str:
    """1 Aug 2025, 00:05 UTC."""
    return f"{day(value)}, {value:%H:%M} UTC"


def span(start: str, end: str) -> str:
    """1 Aug to 30 Sep 2025."""
    first, last = date.fromisoformat(start[:10]), date.fromisoformat(end[:10])
    head = f"{first.day} {first:%b}" + ("" if first.year == last.year else f" {first.year}")
    return f"{head} to {day(last)}"


def age_days(then: str, end: str) -> str:
    """How long before the run's last session, in days: 2 d."""
    return f"{(date.fromisoformat(end[:10]) - date.fromisoformat(then[:10])).days} d"


def age_seconds(seconds: float) -> str:
    """12 s, 5 min, 3 h, 2 d: the largest unit that fits, rounded down."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"
