"""What the knowledge says about a column, and about no other."""

from tasks.core.models.document import Plan, PlanColumn
from tasks.core.models.semantics import Definition, Knowledge, Rule
from tasks.document.normalising.guidance import told


def test_only_the_tables_own_field_and_rules_that_name_it_are_told() -> None:
    columns = tuple(PlanColumn(name=name, doc_meaning=name, task_meaning=name) for name in ("id", "area"))
    plan = Plan(stem="harvest", key="id", columns=columns, sections=(), anchors=(), universe=())
    knowledge = Knowledge(
        definitions=(
            Definition(table="harvest", field="area", meaning="planted", unit="ha", line=1),
            Definition(table="leases", field="area", meaning="rented", unit="acre", line=2),
        ),
        rules=(
            Rule(text="All amounts are paid in full.", line=3),
            Rule(text="area is stored in hectares.", line=4),
            Rule(text="id keeps its zeros.", line=5),
        ),
    )
    assert told(knowledge, columns[1], plan).splitlines() == [
        "area: planted [ha]",
        "area is stored in hectares.",
        "All amounts are paid in full.",
    ]
