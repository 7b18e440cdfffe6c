"""what the knowledge defines and what the question names in full → whether the query reads just that."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tasks.core.models.catalogue import ColumnProfile, TableProfile
from tasks.core.models.evidence import Check
from tasks.core.models.semantics import Metric
from tasks.core.search.words import plain
from tasks.solve.checking import asked
from tasks.solve.checking.facts import KEYISH, Facts

_SUM = re.compile(r"(?i)\bsum(?:med|s)?\b|\btotal(?:s|led)?\b|合计|求和|总和|之和|总额|累计")
_SHARE = re.compile(r"(?i)/|÷|\bper\b|\bdivided\b|\bratio\b|除以|占比|比率")
_COMPUTED = re.compile(r"[*×/÷]|\s[-+]\s|\w\(")
_COUNT = re.compile(r"(?i)\bcount\s*\([^()]*\)")
_CJK = re.compile(r"[\u3400-\u9fff]")
_PHRASE, _SIGNS = 2, 4
"""Words, or Chinese signs, from which what a column means is a phrase that nobody says by chance."""
_NOUN = re.compile(
    r"(?i)\b(?:how many|number of|at (?:least|most)|(?:more|fewer|less) than|exactly)\s+((?:[\w-]+\s+){0,2}[\w-]+)"
)


def computed(facts: Facts) -> Check | None:
    """A metric of the knowledge that the question asks for is computed from the columns, and in the way, that its formula says."""
    from sqlglot import exp

    read = {column.name.casefold() for column in facts.tree.find_all(exp.Column)}
    if _reads_all(facts):
        return None
    for metric in facts.metrics:
        formula = f"{metric.formula} {metric.meaning}"
        if not _is_asked(metric, facts.question):
            continue
        missing = [name for name in _needed(formula, facts) if name.casefold() not in read]
        if missing:
            detail = f"the knowledge computes {metric.name} from {missing[0]}, which the query does not read"
            return Check(name="metric", outcome="failed", detail=detail)
        averaged = facts.tree.find(exp.Avg) is not None and facts.tree.find(exp.Sum) is None
        says_sum = _SUM.search(formula) and not _SHARE.search(formula) and not asked.MEAN.search(formula)
        if averaged and says_sum and not asked.AVERAGE.search(facts.question):
            detail = f"the knowledge adds up for {metric.name}, and the query takes an average"
            return Check(name="metric", outcome="failed", detail=detail)
    return None


def _reads_all(facts: Facts) -> bool:
    """All columns of a table are shown, without being named."""
    from sqlglot import exp

    return any(not isinstance(star.parent, exp.Count) for star in facts.tree.find_all(exp.Star))


def _is_asked(metric: Metric, question: str) -> bool:
    for name in re.split(r"\s*[/|｜、()（）]\s*", metric.name):
        if _CJK.search(name):
            if len(name) > 1 and name in question:
                return True
        elif len(name) > 2 and re.search(rf"(?i)(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", question):
            return True
    return False


def _needed(formula: str, facts: Facts) -> Iterator[str]:
    """Columns of the query's tables that a formula computes with; what it counts, and ids, can be had in other ways."""
    text = _COUNT.sub(" ", formula)
    is_computed = bool(_COMPUTED.search(text))
    for table in facts.tables:
        for column in table.columns:
            name = rf"(?i)(?<!\w){re.escape(column.name)}(?!\w)"
            dotted = f"{table.name}.{column.name}".casefold() in text.casefold()
            sure = "_" in column.name or _CJK.search(column.name) or is_computed or dotted
            if sure and not KEYISH.search(column.name) and re.search(name, text):
                yield column.name


def said_column(facts: Facts) -> Check | None:
    """A column whose whole meaning stands in the question is read, where its table is."""
    from sqlglot import exp

    read = {plain(column.name) for column in facts.tree.find_all(exp.Column)}
    if _reads_all(facts) or facts.tree.find(exp.Count):
        return None
    question = _flat(facts.question)
    said = [(phrase, table, column) for table, column, phrase in _phrases(facts) if _within(phrase, question)]
    for phrase, table, column in said:
        longer = any(phrase != other and phrase in other for other, _, _ in said)
        same = [
            c for t in facts.tables for c in t.columns if phrase in (_flat(c.meaning), _flat(c.name.replace("_", " ")))
        ]
        if longer or any(plain(other.name) in read for other in same) or facts.schema.table(phrase.replace(" ", "_")):
            continue
        detail = f"the question says {phrase!r}, which is what {table.name}.{column.name} holds, and the query does not read it"
        return Check(name="column", outcome="failed", detail=detail)
    return None


def _phrases(facts: Facts) -> Iterator[tuple[TableProfile, ColumnProfile, str]]:
    """Names and meanings long enough to be meant where they are said."""
    for table in facts.tables:
        for column in table.columns:
            if KEYISH.search(column.name):
                continue
            for text in dict.fromkeys((_flat(column.meaning), _flat(column.name.replace("_", " ")))):
                if len(_CJK.findall(text)) >= _SIGNS or (not _CJK.search(text) and len(text.split()) >= _PHRASE):
                    yield table, column, text


def _flat(text: str) -> str:
    """Small letters and single spaces, without what stands in brackets."""
    return " ".join(re.sub(r"[（(\[][^）)\]]*[）)\]]", " ", text).casefold().split()).strip(" .。:：")


def _within(phrase: str, question: str) -> bool:
    if _CJK.search(phrase):
        return phrase in question
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", question) is not None


def counted_things(facts: Facts) -> Check | None:
    """Where the question counts what a table lists, no other column of it is added up in place of a count."""
    from sqlglot import exp

    if facts.tree.find(exp.Count) or facts.tree.find(exp.CountIf):
        return None
    sums = [(node, facts.place(node.this)) for node in facts.tree.find_all(exp.Sum)]
    said = asked.stems(facts.question)
    for found in _NOUN.finditer(facts.question):
        words = asked.stems(found[1])
        things = [table for table in facts.tables if asked.stems(table.name) and asked.stems(table.name) <= words]
        for node, place in sums:
            if things and place and not asked.overlap((place[1].name, place[1].meaning), said):
                detail = (
                    f"the question counts {things[0].name}, and {node.sql('duckdb')} adds up what it does not speak of"
                )
                return Check(name="measure", outcome="failed", detail=detail)
    return None
