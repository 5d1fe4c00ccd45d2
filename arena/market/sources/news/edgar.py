"""The index of a company's filings at the SEC: that something was filed, what, and when.

Form of the answer: data.sec.gov/submissions, columns under `filings.recent` and in older pages named in
`filings.files`. What a filing says is not read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time
from typing import TypeVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from arena.core.clock import Clock, utc_now
from arena.core.errors import SourceError
from arena.core.types import Asset
from arena.market.news.items import RawItem, Trust, TsQuality
from arena.market.sources.news import edgar_forms as forms
from arena.market.sources.news.http import fetch

BASE_URL = "https://data.sec.gov"
ARCHIVE_URL = "https://www.sec.gov/Archives/edgar/data"
MAX_BYTES = 20_000_000
"""A company with thirty years of filings sends some megabytes."""
MAX_FILINGS = 500
NEW_YORK = ZoneInfo("America/New_York")
OPENS, CLOSES = time(6), time(22)
"""EDGAR accepts filings from 6:00 to 22:00 of New York."""

_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


class _Columns(BaseModel):
    """Columns of equal length, newest filing first; the SEC sends more, which are passed over."""

    model_config = ConfigDict(alias_generator=to_camel)
    accession_number: list[str]
    form: list[str]
    filing_date: list[date]
    acceptance_date_time: list[str]
    report_date: list[str]
    items: list[str]

    @model_validator(mode="after")
    def _equal_length(self) -> _Columns:
        if len({len(getattr(self, name)) for name in type(self).model_fields}) != 1:
            raise ValueError("columns of different length")
        return self


class _Page(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)
    name: str
    filing_from: date
    filing_to: date


class _Filings(BaseModel):
    recent: _Columns
    files: list[_Page] = []


class _Submissions(BaseModel):
    filings: _Filings


_Form = TypeVar("_Form", bound=BaseModel)


class EdgarIndex:
    """Filings of every asset with an `edgar` symbol, its CIK."""

    name = "edgar"
    trust: Trust = "official"

    def __init__(self, base_url: str = BASE_URL, clock: Clock = utc_now) -> None:
        self._base_url, self._clock = base_url, clock

    def fetch(
        self, assets: Sequence[Asset], since_utc: datetime, until_utc: datetime
    ) -> list[RawItem]:
        """Filings of the days from `since_utc` to `until_utc`, the newest `MAX_FILINGS` a company."""
        found: list[RawItem] = []
        for asset in assets:
            if "edgar" in asset.symbols and not asset.synthetic:
                found += self._filed(asset, since_utc.date(), until_utc.date())
        return found

    def _filed(self, asset: Asset, first: date, last: date) -> list[RawItem]:
        cik = asset.symbols["edgar"].zfill(10)
        index = self._read(_Submissions, f"CIK{cik}.json").filings
        pages = [index.recent]
        pages += [
            self._read(_Columns, page.name)
            for page in index.files
            if page.filing_from <= last and page.filing_to >= first
        ]
        stamps = [_shown(text) for page in pages for text in page.acceptance_date_time]
        zone = clock_of([stamp for stamp in stamps if stamp is not None])
        items = [
            item for page in pages for item in _items(page, asset, zone, first, last, self._clock())
        ]
        return items[:MAX_FILINGS]

    def _read(self, form: type[_Form], name: str) -> _Form:
        answer = fetch(self.name, f"{self._base_url}/submissions/{name}", max_bytes=MAX_BYTES)
        try:
            return form.model_validate_json(answer.body)
        except ValidationError as error:
            fault = error.errors()[0]
            where = ".".join(map(str, fault["loc"])) or "answer"
            raise SourceError(
                f"edgar: {answer.url} is not in the form of submissions: {where}: {fault['msg']}."
            ) from None


def clock_of(shown: Sequence[datetime]) -> ZoneInfo | None:
    """The clock behind a filer's acceptance times, which all end in Z: UTC, or New York's; None unknown.

    For about one company in five the SEC puts its Z behind the time of New York, hours before the true
    moment; a company keeps to one of the two. Nothing is accepted at night, so the reading that puts
    fewer filings into the night of New York is the right one.
    """
    as_local = sum(not OPENS <= s.time() <= CLOSES for s in shown)
    in_new_york = (s.replace(tzinfo=UTC).astimezone(NEW_YORK) for s in shown)
    as_utc = sum(not OPENS <= s.time() <= CLOSES for s in in_new_york)
    if as_local == as_utc:
        return None
    return ZoneInfo("UTC") if as_utc < as_local else NEW_YORK


def _shown(text: str) -> datetime | None:
    """What the text shows, without its Z; None for an empty text and for a day without an hour."""
    if not _STAMP.match(text):
        return None
    try:
        shown = datetime.fromisoformat(text[:19])
    except ValueError:
        return None
    return shown if shown.time() != time() else None


def _items(
    page: _Columns, asset: Asset, zone: ZoneInfo | None, first: date, last: date, now: datetime
) -> Iterator[RawItem]:
    cik = asset.symbols["edgar"].lstrip("0")
    columns = (
        page.accession_number, page.form, page.filing_date, page.acceptance_date_time,
        page.report_date, page.items,
    )  # fmt: skip
    for accession, form, filed, accepted, report_date, items in zip(*columns, strict=True):
        quality, published = _dated(form, filed, _shown(accepted), zone)
        day = published.date() if published else filed
        if not first <= day <= last:
            continue
        yield RawItem(
            title=forms.title(asset.name, form, report_date, items),
            url=f"{ARCHIVE_URL}/{cik}/{accession.replace('-', '')}/{accession}-index.htm",
            text=forms.text(asset.name, form, report_date, items, filed.isoformat()),
            outlet="SEC EDGAR",
            origin="edgar",
            trust="official",
            ts_quality=quality,
            published_utc=published,
            collected_at_utc=now,
            asset=asset.id,
            kind=forms.kind_of(form),
        )


def _dated(
    form: str, filed: date, shown: datetime | None, zone: ZoneInfo | None
) -> tuple[TsQuality, datetime | None]:
    if forms.plain(form)[0] in forms.PUBLIC_LATER:
        return "collected", None
    if shown is None:
        return "date", datetime.combine(filed, time(), UTC)
    if zone is None:
        return "naive", shown.replace(tzinfo=UTC)
    return "exact", shown.replace(tzinfo=zone).astimezone(UTC)
