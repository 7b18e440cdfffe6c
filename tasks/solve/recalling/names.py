"""Terms + index → columns and metrics by their names, aliases and descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tasks.core.models.context import Hit, Terms
from tasks.core.models.metadata import Metadata
from tasks.core.search.index import Kind
from tasks.core.search.lookup import Lookup
from tasks.core.search.words import words
from tasks.core.sections import RecallSettings

_ADDED = 0.5
"""Weight of what a model's term finds, against the question itself."""
_DEPTH = 4
"""Candidates of one search, as a multiple of the hits that are kept."""
_REASON_CHARS = 60

Said = Mapping[str, Sequence[tuple[str, str]]]
"""By id, the texts that may have met a term, each with what it is."""


def find_columns(path: Path, terms: Terms, metadata: Metadata, settings: RecallSettings) -> tuple[Hit, ...]:
    """Columns, best first."""
    tables = {table.name: table for table in metadata.tables}
    said: dict[str, list[tuple[str, str]]] = {}
    for column in metadata.columns:
        table = tables.get(column.table)
        said[column.id] = [
            ("name", column.name),
            *(("alias", alias) for alias in column.aliases),
            ("description", column.description),
            ("table", column.table),
            *(("alias of the table", alias) for alias in (table.aliases if table else ())),
            ("description of the table", table.description if table else ""),
        ]
    return _find(path, "column", terms, said, settings.columns)


def find_metrics(path: Path, terms: Terms, metadata: Metadata, settings: RecallSettings) -> tuple[Hit, ...]:
    """Metrics, best first."""
    said = {
        metric.id: [
            ("name", metric.name),
            *(("alias", alias) for alias in metric.aliases),
            ("description", metric.description),
            ("formula", metric.formula),
        ]
        for metric in metadata.metrics
    }
    return _find(path, "metric", terms, said, settings.metrics)


def _find(path: Path, kind: Kind, terms: Terms, said: Said, limit: int) -> tuple[Hit, ...]:
    added = terms.columns if kind == "column" else terms.metrics
    scores: dict[str, float] = {}
    with Lookup(path) as lookup:
        for ref, score in lookup.search(kind, words(terms.question), limit * _DEPTH):
            scores[ref] = score
        extra: dict[str, float] = {}
        for term in added:
            for ref, score in lookup.search(kind, words(term), limit * _DEPTH):
                extra[ref] = max(extra.get(ref, 0.0), score * _ADDED)
    for ref, score in extra.items():
        scores[ref] = scores.get(ref, 0.0) + score
    best = sorted((ref for ref in scores if ref in said), key=lambda ref: -scores[ref])[:limit]
    return tuple(
        Hit(id=ref, score=scores[ref], why="lexical", reason=reason((*terms.keywords, *added), said[ref]))
        for ref in best
    )


def reason(terms: Sequence[str], texts: Sequence[tuple[str, str]]) -> str:
    """Which term met which text: the pair that shares most of both, a name before a description."""
    best, worth = "", 0.0
    for place, (what, text) in enumerate(texts):
        own = words(text)
        for term in terms:
            asked = words(term)
            shared = len(own & asked)
            if shared and (found := shared / len(asked) + shared / len(own) - place / 1000) > worth:
                best, worth = f"{term[:_REASON_CHARS]!r} met {what} {text[:_REASON_CHARS]!r}", found
    return best or "its words are spread over name and surroundings"
