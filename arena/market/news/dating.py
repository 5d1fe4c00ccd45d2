"""When a text became known: the one rule from a source's date to `known_at_utc`, and why items stay out."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from enum import StrEnum

from arena.market.news.items import TsQuality


class Refused(StrEnum):
    """Why an item does not enter. Each refusal is counted, on the health table of its source."""

    NO_TITLE = "no_title"
    NO_DATE = "no_date"
    DATED_AFTER_SEEN = "dated_after_seen"
    FUTURE = "future"
    OTHER_SUBJECT = "other_subject"
    DUPLICATE = "duplicate"
    ERROR_TEXT = "error_text"


FURTHEST_BEHIND = timedelta(hours=12)
"""No place keeps a clock further behind UTC: an hour without a zone is over everywhere after this."""

LATEST_UTC = datetime(2100, 12, 31, tzinfo=UTC)
"""Nobody means a later date; a slip of the keyboard must not overflow the arithmetic."""


def known_at(
    ts_quality: TsQuality, published_utc: datetime | None, collected_at_utc: datetime | None
) -> datetime | Refused:
    """The moment from which the text may be read, or why there is none.

    | `ts_quality` | known at |
    |---|---|
    | exact | published |
    | naive | published + 12 h, and not after it was collected |
    | date | the end of that day: the next midnight UTC |
    | relative, range, collected | when it was collected, whatever it says of itself |
    | none | never: `NO_DATE` |

    Never before `published_utc`. A text dated later than it was seen lies about its date, or its
    collection does: `DATED_AFTER_SEEN`, whatever the quality. Times are aware UTC; others are no date.
    """
    if not (_is_utc(published_utc) and _is_utc(collected_at_utc)) or ts_quality == "none":
        return Refused.NO_DATE
    if published_utc and collected_at_utc and published_utc > collected_at_utc:
        return Refused.DATED_AFTER_SEEN
    if ts_quality in ("relative", "range", "collected"):
        return collected_at_utc or Refused.NO_DATE
    if published_utc is None:
        return Refused.NO_DATE
    if published_utc > LATEST_UTC:
        return Refused.FUTURE
    if ts_quality == "date":
        return datetime.combine(published_utc.date() + timedelta(days=1), time(), UTC)
    if ts_quality == "naive":
        over_everywhere = published_utc + FURTHEST_BEHIND
        return min(over_everywhere, collected_at_utc or over_everywhere)
    return published_utc


def _is_utc(moment: datetime | None) -> bool:
    return moment is None or moment.utcoffset() == timedelta(0)
