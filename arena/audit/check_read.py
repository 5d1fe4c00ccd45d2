"""Briefs and articles against contexts: what the store tells of a day's reading is what agents read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from arena.audit.finding import Finding
from arena.audit.rows import load, stored_hashes
from arena.core.hashing import sha256_text
from arena.core.rows import ArticleRow, BlobRow, BriefRow, BriefScoreRow, ContextRow
from arena.market.news.quality import CODE, Rule
from arena.runner.sealing import parse_part
from arena.store.store import Store

FAILED = "null"
"""Content of a brief that its maker failed to write."""

STORIES = "WHERE sha256 IN (SELECT stories_sha256 FROM contexts)"


def check_read(store: Store) -> Iterator[Finding | int]:
    """Briefs and stories of every context."""
    contexts = load(store, ContextRow, "ORDER BY asset, as_of_utc")
    yield from check_briefs(store, contexts)
    yield from check_stories(
        store, contexts, {b.sha256: b.text for b in load(store, BlobRow, STORIES)}
    )


def check_briefs(store: Store, contexts: list[ContextRow]) -> Iterator[Finding | int]:
    """The brief of a context is stored as it was read, what its model was asked and said is there, and
    a usable one has the code's four scores."""
    briefs = {b.brief: b for b in load(store, BriefRow, "ORDER BY brief")}
    scored = {(s.brief, s.rule) for s in load(store, BriefScoreRow, "WHERE scorer = ?", [CODE])}
    texts = stored_hashes(store) | {None}
    yield len(briefs)
    for context in contexts:
        if context.brief is None and context.brief_sha256 is None:
            continue
        brief = briefs.get(context.brief or "")
        if brief is None or sha256_text(brief.content_json) != context.brief_sha256:
            yield Finding(
                "breach", "briefs",
                f"{context.brief} is not in the store as it was read of {context.asset} at "
                f"{context.session}",
            )  # fmt: skip
    for brief in briefs.values():
        if not {brief.prompt_sha256, brief.answer_sha256} <= texts:
            yield Finding("breach", "texts", f"prompt or answer of {brief.brief} is missing")
        lacks = [rule for rule in get_args(Rule) if (brief.brief, rule) not in scored]
        if lacks and brief.content_json != FAILED:
            yield Finding("breach", "briefs", f"{brief.brief} has no score of {', '.join(lacks)}")


def check_stories(
    store: Store, contexts: list[ContextRow], texts: Mapping[str, str]
) -> Iterator[Finding | int]:
    """A context counts its stories rightly, and each stands among the articles as it was read.

    One that does not is a warning: an article is kept as it first came, and another run may have read it worded anew.
    """
    articles = {
        (a.asset, a.story, a.title, a.text, a.known_at_utc) for a in load(store, ArticleRow, "")
    }
    alone: dict[str, list[tuple[ContextRow, dict[str, Any]]]] = {}
    for context in contexts:
        stories = _stories(context, texts)
        if stories is None:
            continue
        yield len(stories)
        if len(stories) != context.n_stories:
            yield Finding(
                "breach", "contexts",
                f"the market of {context.asset} at {context.session} counts {context.n_stories} "
                f"stories and has {len(stories)}",
            )  # fmt: skip
        for story in stories:
            key = (story.get("id"), story.get("title"), story.get("text"), story.get("known_at_utc"))
            if (context.asset, *key) not in articles:
                alone.setdefault(context.asset, []).append((context, story))
    for asset, found in alone.items():
        context, story = found[0]
        yield Finding(
            "warning", "articles",
            f"{len(found)} stories of {asset} are not among the articles as they were read, first "
            f"{story.get('id')} at {context.session}",
        )  # fmt: skip


def _stories(context: ContextRow, texts: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """The stories of a context; None where the text is gone or altered, which is found elsewhere."""
    if context.stories_sha256 is None:
        return []
    text = texts.get(context.stories_sha256)
    if text is None or sha256_text(text) != context.stories_sha256:
        return None
    found: list[dict[str, Any]] = parse_part(text)
    return found
