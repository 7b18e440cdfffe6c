"""catalogue + profile + knowledge + metadata.yaml → Metadata: roles, links, aliases and metrics; measured, then as told."""

from __future__ import annotations

from tasks.core.files import store as stores
from tasks.core.models.catalogue import Catalogue, Profile, TableProfile
from tasks.core.models.metadata import ColumnInfo, Metadata, Overrides, TableInfo
from tasks.core.models.semantics import Knowledge
from tasks.core.search.coined import as_metric, coined, computed
from tasks.core.sections import MetadataSettings
from tasks.solve.describing.aliases import Said, read_told
from tasks.solve.describing.metrics import metric_infos
from tasks.solve.describing.names import Names, column_id
from tasks.solve.describing.notes import Notes, by_table, measured_rates
from tasks.solve.describing.roles import Role, column_roles, table_role
from tasks.solve.describing.rows import as_json
from tasks.stage import stage


@stage()
async def describe_catalogue(
    catalogue: Catalogue, profile: Profile, knowledge: Knowledge, overrides: Overrides, settings: MetadataSettings
) -> Metadata:
    """What every table, column and metric is about. No model is asked; what fits nothing is in `problems`."""
    names = Names(catalogue)
    said = read_told(profile, knowledge, names)
    notes = Notes(overrides, names)
    notes.teach()
    roles, rates = column_roles(profile, said.columns), measured_rates(profile)
    columns = [
        notes.on_column(info, rates) for table in profile.tables for info in _columns(table, roles, said, settings)
    ]
    owned = by_table(columns)
    tables = tuple(notes.on_table(_table(table, owned.get(table.name, []), said, settings)) for table in profile.tables)
    values = {
        table: {info.id: info.examples for info in infos if info.type == "VARCHAR"} for table, infos in owned.items()
    }
    terms = coined(knowledge, (column.name for table in profile.tables for column in table.columns))
    computable = tuple(as_metric(term) for term in terms if computed(term))
    told = knowledge.model_copy(update={"metrics": (*knowledge.metrics, *computable)})
    metrics, problems = metric_infos(told, overrides.metrics, names, values)
    made = Metadata(
        tables=tables,
        columns=tuple(columns),
        metrics=metrics,
        problems=tuple(dict.fromkeys((*notes.problems, *problems))),
    )
    return made.model_copy(update={"database": stores.current().put(as_json(made), "metadata.json")})


def _columns(table: TableProfile, roles: dict[str, Role], said: Said, settings: MetadataSettings) -> list[ColumnInfo]:
    made = []
    for column in table.columns:
        known = column_id(table.name, column.name)
        role = roles[known]
        made.append(
            ColumnInfo(
                id=known,
                table=table.name,
                name=column.name,
                type=column.type,
                role=role.role,
                examples=column.examples[: settings.examples],
                description=column.meaning,
                aliases=said.aliases_of(known),
                unit=column.unit,
                refers_to=role.refers_to,
                match_rate=role.match_rate,
                basis=role.basis,
            )
        )
    return made


def _table(table: TableProfile, columns: list[ColumnInfo], said: Said, settings: MetadataSettings) -> TableInfo:
    description = said.descriptions.get(table.name, "")
    roles = [Role(column.role) for column in columns]
    role, basis = table_role(table, roles, settings.fact_links, description)
    return TableInfo(
        name=table.name,
        origin=table.origin,
        role=role,
        description=description,
        aliases=said.aliases_of(table.name),
        rows=table.rows,
        basis=basis,
    )
