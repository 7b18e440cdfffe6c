"""The brief of a folder whose tables were judged: what stands in detail, by name, folded; within its budget."""

from __future__ import annotations

import asyncio

import pytest
from shop import KNOWLEDGE, PROFILE, question

from tasks.core.llm.tokens import count
from tasks.core.models.answer import Brief
from tasks.core.models.catalogue import ColumnProfile, JoinCandidate, Profile, TableProfile
from tasks.core.models.context import Context, TableContext, TableRelevanceResult
from tasks.core.models.metadata import ColumnInfo, MetricContext
from tasks.core.models.semantics import Knowledge
from tasks.core.sections import BriefSettings
from tasks.core.settings import load
from tasks.solve.compress import compress
from tasks.solve.showing.size import whole_tokens

NEEDED = ("zz_sales", "zz_regions")


def table(name: str, *columns: str, notes: tuple[str, ...] = ()) -> TableProfile:
    made = (ColumnProfile(name=c, type="VARCHAR", null_share=0, distinct=9, examples=("aa", "bb")) for c in columns)
    return TableProfile(name=name, origin=f"csv/{name}.csv", rows=10, columns=tuple(made), notes=notes)


def info(table: str, name: str, **more: object) -> ColumnInfo:
    return ColumnInfo(id=f"{table}.{name}", table=table, name=name, type="VARCHAR", role="dimension").model_copy(
        update=more
    )


def world(number: int, columns: int = 12) -> tuple[Profile, TableRelevanceResult]:
    """Two needed tables, last by name, one from a document, and a folded table for each other number."""
    fields = [f"field_{at}" for at in range(columns)]
    tables = [table(f"aa_{at:04}", *fields) for at in range(number)]
    tables += [
        table("doc_rules", "rule_id", "share", notes=("drawn from a document, one row per rule_id; imperfect",)),
        table("zz_regions", "region_id", "region_name", *fields),
        table("zz_sales", "region_id", "amount", *fields),
    ]
    join = JoinCandidate(
        left_table="zz_sales", left_column="region_id", right_table="zz_regions", right_column="region_id",
        match_rate=1, left_unique=False, right_unique=True,
    )  # fmt: skip
    judged = [made.name for made in tables if made.name != "doc_rules"]
    skipped = tuple(name for name in judged if name not in NEEDED)
    result = TableRelevanceResult(
        per_table={name: name in NEEDED for name in judged}, all_tables=tuple(judged), always_keep=("doc_rules",),
        relevant_tables=(*NEEDED, "doc_rules"), skipped_tables=skipped, vote_tally=dict.fromkeys(judged, "3/3"),
    )  # fmt: skip
    return Profile(tables=tuple(tables), joins=(join,)), result


CONTEXT = Context(
    tables=(
        TableContext(
            name="zz_sales",
            role="fact",
            description="one line per sale",
            columns=(
                info("zz_sales", "amount", role="measure", aliases=("销售额",)),
                info("zz_sales", "region_id", role="foreign_key", refers_to="zz_regions.region_id", match_rate=0.987),
            ),
        ),
        TableContext(
            name="zz_regions",
            role="dimension",
            columns=(
                info("zz_regions", "region_name", examples=("aa", "华北")),
                info("zz_regions", "region_id", role="primary_key"),
            ),
        ),
    ),
    metrics=(
        MetricContext(
            name="GMV", formula="sum(amount)", unit="CNY", grain="one order", filters=("status = 'paid'",),
            aliases=("成交额",), columns=("zz_sales.amount",),
        ),
    ),
    keys={"zz_sales.region_id": "foreign_key", "zz_regions.region_id": "primary_key"},
)  # fmt: skip


def brief(
    profile: Profile, relevance: TableRelevanceResult, context: Context = CONTEXT, video: str = "", **changes: object
) -> Brief:
    settings = load().brief.model_copy(update=changes)
    checked = BriefSettings.model_validate(settings.model_dump())
    asked = question("统计华北地区的销售总额")
    made: Brief = asyncio.run(compress.function(asked, profile, KNOWLEDGE, checked, context, relevance, video))
    assert made.tokens == count(made.text) <= settings.tokens
    assert sorted((*made.shown, *made.folded)) == sorted(made.name for made in profile.tables)
    return made


def test_a12_the_first_prompt_alone_changes_and_says_how_to_look_a_folded_table_up() -> None:
    profile, relevance = world(30)
    made = brief(profile, relevance)
    assert set(made.shown) == {*NEEDED, "doc_rules"} and len(made.folded) == 30
    assert "- aa_0029 (csv/aa_0029.csv)" in made.text.splitlines() and "field_3 VARCHAR: " not in made.text
    (head,) = [line for line in made.text.splitlines() if line.startswith("Folded")]
    assert "describe" in head and "list_tables" in head and "queried like the others" in head
    assert whole_tokens(profile) > 2 * made.tokens


def test_found_columns_stand_in_detail_and_the_others_by_name() -> None:
    profile, relevance = world(3)
    made = brief(profile, relevance)
    assert "zz_sales (10 rows; csv/zz_sales.csv; one line per sale; fact table)" in made.text
    assert "- amount VARCHAR: measure; also called 销售额; e.g. 'aa', 'bb' (9 distinct)" in made.text
    assert "- region_id VARCHAR: foreign key to zz_regions.region_id (98.7 % match)" in made.text
    assert "- region_name VARCHAR: e.g. '华北', 'aa', 'bb'" in made.text, "a value that was found comes first"
    assert "- also field_0 VARCHAR, field_1 VARCHAR" in made.text and "- field_0" not in made.text
    assert made.detailed["zz_sales"] == ("region_id", "amount")
    assert "Joins" not in made.text, "the foreign key says it"


def test_a_document_table_is_kept_whole_with_its_quality() -> None:
    profile, relevance = world(3)
    made = brief(profile, relevance)
    assert "drawn from a document, one row per rule_id; imperfect" in made.text
    assert made.detailed["doc_rules"] == ("rule_id", "share")


def test_a_relevant_table_without_a_find_shows_all_its_columns() -> None:
    profile, relevance = world(3)
    made = brief(profile, relevance, Context(tables=CONTEXT.tables[:1], keys=CONTEXT.keys))
    assert "- region_name VARCHAR" in made.text and "- field_11 VARCHAR" in made.text
    filtered = brief(profile, relevance, Context(tables=CONTEXT.tables[:1], keys=CONTEXT.keys, filtered=True))
    assert "zz_regions (10 rows): region_id VARCHAR, region_name VARCHAR" in filtered.text


def test_metrics_have_formula_unit_grain_and_condition_and_stand_once() -> None:
    profile, relevance = world(3)
    made = brief(profile, relevance)
    assert "- GMV (also called 成交额) = sum(amount) [CNY]; grain: one order; only where" in made.text
    assert "only where status = 'paid'; from zz_sales.amount" in made.text
    again = CONTEXT.model_copy(update={"metrics": (MetricContext(name="Sales", formula="sum(amount)", unit="CNY"),)})
    assert brief(profile, relevance, again).text.count("Sales = sum(amount)") == 1


def test_c7_today_and_the_quarter_are_told() -> None:
    assert brief(*world(3)).text.startswith("Today is 2024-05-01 (Wednesday, quarter 2). Tables: 6.")


def test_what_a_video_says_of_the_question_is_told_within_its_share() -> None:
    profile, relevance = world(3)
    lines = "".join(f"[00:{at:02}] nothing of use here\n" for at in range(60)) * 100
    made = brief(profile, relevance, video=lines + "[09:00] slide: 销售总额 only counts paid orders\n")
    section = made.text.partition("From the task's videos")[2].partition("\n\n")[0]
    assert "销售总额 only counts paid orders" in section
    assert count(section) <= 0.15 * load().brief.tokens
    assert "no source of data" in section and "videos" not in brief(profile, relevance).text


@pytest.mark.parametrize("number", [300, 3000])
@pytest.mark.parametrize(("tokens", "layout"), [(1200, "ddl"), (1200, "plain"), (12000, "plain")])
def test_any_number_of_tables_stays_in_the_budget_named_while_they_fit_and_counted_beyond(
    number: int, tokens: int, layout: str
) -> None:
    profile, relevance = world(number)
    made = brief(profile, relevance, tokens=tokens, layout=layout)
    assert {*NEEDED} <= set(made.shown) and "amount" in made.text and "region_name" in made.text
    last = made.text.splitlines()[-1]
    if (number, tokens) == (300, 12000):
        assert last.rpartition(", ")[2] == "aa_0299" and "more" not in last
    else:
        named = last.partition(": ")[2].split(", ")
        assert named[-1] == f"and {number - len(named) + 1} more"


def test_more_relevant_tables_than_the_budget_holds_are_shown_best_first() -> None:
    profile, relevance = world(200)
    every = relevance.model_copy(
        update={"relevant_tables": tuple(t.name for t in profile.tables), "skipped_tables": ()}
    )
    made = brief(profile, every, tokens=1500)
    assert made.shown[0] == "zz_sales" and {*NEEDED} <= set(made.shown) and made.folded


def test_a_small_folder_reads_as_if_nothing_had_been_asked() -> None:
    settings = load().brief
    asked = question("What are the sales of tea?")
    before = asyncio.run(compress.function(asked, PROFILE, KNOWLEDGE, settings))
    off = TableRelevanceResult(off="few tables", relevant_tables=("customers", "orders"))
    assert asyncio.run(compress.function(asked, PROFILE, KNOWLEDGE, settings, Context(), off)) == before


def test_a_folder_without_knowledge_has_no_section_for_it() -> None:
    profile, relevance = world(2)
    made = asyncio.run(compress.function(question("?"), profile, Knowledge(), load().brief, CONTEXT, relevance))
    assert "Knowledge" not in made.text


@pytest.mark.parametrize(
    ("unique", "name", "listed"), [(True, "sale_id", False), (False, "sale_id", True), (True, "region_id", True)]
)
def test_equal_numbering_is_no_link_beside_the_one_that_a_column_says(unique: bool, name: str, listed: bool) -> None:
    """Two tables numbered from 1 meet in all their keys; the column that refers to the other table says how they belong together."""
    profile, relevance = world(4)
    other = JoinCandidate(
        left_table="zz_sales", left_column=name, right_table="zz_regions", right_column="region_id",
        match_rate=1, left_unique=unique, right_unique=True,
    )  # fmt: skip
    said = tuple(join for join in (*profile.joins, other) if name == "sale_id" or join is other)
    made = brief(profile.model_copy(update={"joins": said}), relevance)
    alone = brief(profile.model_copy(update={"joins": (other,)}), relevance, Context())
    assert ("zz_sales.sale_id" in made.text) == (listed and name == "sale_id")
    assert f"zz_sales.{name}" in alone.text, "without a stated link it is the only one there is"
