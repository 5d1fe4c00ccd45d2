"""What a feed leaves open: the encoding of its bytes, and how good its dates are."""

from __future__ import annotations

import codecs
import re
from datetime import UTC, datetime, time
from email.utils import parsedate_to_datetime

from arena.market.news.items import TsQuality

_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding=["']([A-Za-z0-9._-]{1,40})["']""")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like UTF-16's, so it is looked for first
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0?\0", "utf-16-le"),
    (b"\0<\0?", "utf-16-be"),
)
_CODECS = ("iso8859", "cp125", "koi8", "shift_jis", "euc_", "gb", "big5")
"""Beginnings of the codecs that a feed may declare; others (punycode, utf-7) are traps."""
_DAY = re.compile(r"(?:[A-Za-z]{3,9},?\s+)?(\d{1,2}\s+[A-Za-z]{3,9}\s+\d{4})")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?P<time>[T ]\d{2}:\d{2}.*)?", re.IGNORECASE)


def decoded(body: bytes, header_charset: str | None) -> str:
    """`body` as text: by its byte order mark, as UTF-8 where that fits, else as it or its header says.

    UTF-8 comes before what is declared: bytes of another encoding are hardly ever valid UTF-8.
    """
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return body.decode(codec, "replace").lstrip("\ufeff")
    declared = _DECLARED.match(body.lstrip()[:300])
    candidates = ["utf-8", declared[1].decode() if declared else "", header_charset or ""]
    for codec in candidates:
        try:
            if codec == "utf-8" or codecs.lookup(codec).name.startswith(_CODECS):
                return body.decode(codec)
        except (LookupError, UnicodeError, ValueError):
            continue
    return body.decode("cp1252", "replace")


def dated(raw: str) -> tuple[TsQuality, datetime | None]:
    """How good the date `raw` is, and the moment in UTC: RFC 822 and ISO 8601, nothing guessed.

    A zone whose name is unknown is none ("naive"); what is no date of the two forms is "none". Sharp
    midnight stands for a day whose hour nobody entered ("date"): read as a moment, it would be early.
    """
    text = " ".join(raw[:80].split())
    try:
        if iso := _ISO.fullmatch(text):
            moment = datetime.fromisoformat(_iso_zone(text.upper()))
            return _in_utc("naive" if iso["time"] else "date", moment)
        if day := _DAY.fullmatch(text):
            pattern = "%d %b %Y" if len(day[1].split()[1]) == 3 else "%d %B %Y"
            return _in_utc("date", datetime.strptime(day[1], pattern).replace(tzinfo=UTC))
        return _in_utc("naive", parsedate_to_datetime(text))
    except (ValueError, TypeError, OverflowError, IndexError):
        return "none", None


def _iso_zone(text: str) -> str:
    """ISO text as the standard library reads it: "UTC" as Z, and no space before a zone."""
    return re.sub(r"\s?(?:UTC|GMT)$", "Z", re.sub(r"\s([+-]\d{2}:?\d{2}|Z)$", r"\1", text))


def _in_utc(without_zone: TsQuality, moment: datetime) -> tuple[TsQuality, datetime]:
    if without_zone == "date" or moment.time() == time():
        return "date", moment.replace(tzinfo=UTC)
    if moment.tzinfo is None:
        return without_zone, moment.replace(tzinfo=UTC)
    return "exact", moment.astimezone(UTC)
