"""Keys by which the same page and the same headline are known again, however they are written.

Both read hostile text: they look at a bounded part of it, in bounded time, and never raise.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import parse_qsl, urlencode, urlsplit

MAX_URL_CHARS = 2_000
MAX_TITLE_CHARS = 400

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(?!\d)", re.IGNORECASE)
_TWIN_HOSTS = ("www.", "m.", "mobile.", "amp.")
_DEFAULT_PORTS = ("80", "443")

_TRACKING_PREFIXES = ("utm_", "mc_", "gaa_", "pk_", "guce_", "hsa_", "at_", "__")
_TRACKING = frozenset(
    """
    fbclid gclid dclid gbraid wbraid msclkid yclid twclid igshid ref referrer ref_src ref_url src
    cmp cmpid cmpgn campaign ncid ocid oc mod smid sh soc_src soc_trk .tsrc tsrc guccounter spm
    ito taid cid_source partner amp outputtype mobile apiversion noservercache domshim
    renderwebcomponents wcseo batchservertelemetry noservertelemetry
    """.split()  # noqa: SIM905
)

_OUTLET_TAIL = re.compile(r"^(?P<title>.+)\s(?P<mark>[|–—-])\s(?P<tail>[^|]{2,40})$", re.DOTALL)
_SHORT_OUTLETS = frozenset(
    "ABC AFP AP BBC CBC CBS CNBC CNN DW FT MSN NBC NPR NYT UPI WSJ".split()  # noqa: SIM905
)
_MIN_TITLE_WORDS = 3
_MAX_OUTLET_WORDS = 4
_APOSTROPHES = re.compile(r"['’‘`´]")
_NO_WORD = re.compile(r"[\W_]+")


def canonical_url(url: str) -> str:
    """`url` without what differs between two links to the same page; "" where it is no web address.

    Lower host without www., m. and amp., no scheme, fragment, tracking parameter, trailing slash or
    /amp; the parameters left are sorted. The case of the path stays: some sites tell pages apart by it.
    """
    # Browsers read a backslash as a slash: `https://a.test\@b.test` leads to a.test.
    text = url[:MAX_URL_CHARS].encode("utf-8", "replace").decode().strip().replace("\\", "/")
    scheme = _SCHEME.match(text)
    if scheme and scheme[1].lower() not in ("http", "https") and "." not in scheme[1]:
        return ""
    try:
        parts = urlsplit(text if "//" in text[:8] else f"//{text}")
        host, port = _host(parts.hostname or ""), parts.port
    except ValueError:
        return ""
    if not host or ("." not in host and not scheme):
        return ""
    if port is not None and str(port) not in _DEFAULT_PORTS:
        host = f"{host}:{port}"
    path = parts.path.rstrip("/").removesuffix("/amp").rstrip("/")
    kept = sorted(
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if not _is_tracking(name.lower())
    )
    return f"{host}{path}?{urlencode(kept)}" if kept else f"{host}{path}"


def _host(host: str) -> str:
    host = host.lower().rstrip(".")
    for prefix in _TWIN_HOSTS:
        if host.startswith(prefix) and "." in host[len(prefix) :]:
            host = host[len(prefix) :]
    return host


def _is_tracking(name: str) -> bool:
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)


def title_key(title: str) -> str:
    """`title` in folded words: NFKC, no case, punctuation, or outlet at the end (" - Reuters").

    "" where no letter or digit stands in it: such a title identifies nothing.
    """
    text = unicodedata.normalize("NFKC", title[:MAX_TITLE_CHARS]).strip()
    words = _APOSTROPHES.sub("", _without_outlet(text).casefold())
    return _NO_WORD.sub(" ", words).strip()


def _without_outlet(title: str) -> str:
    """A short last part of capitalised words is an outlet's name; a lone ticker is not."""
    found = _OUTLET_TAIL.match(title)
    if not found or len(found["title"].split()) < _MIN_TITLE_WORDS:
        return title
    words = found["tail"].split()
    if len(words) > _MAX_OUTLET_WORDS or any(c.isdigit() or c in "?!:;$%" for c in found["tail"]):
        return title
    if found["mark"] != "|":
        if not all(w[0].isupper() or w in ("of", "the", "and", "&") or "." in w for w in words):
            return title
        if len(words) == 1 and words[0].isupper() and words[0] not in _SHORT_OUTLETS:
            return title
    return found["title"]
