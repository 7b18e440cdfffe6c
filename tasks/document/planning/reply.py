"""What the model replies for a plan. Loose where code can judge better: `check` says all that is wrong at once."""

from __future__ import annotations

from pydantic import BaseModel, Field, field_validator


class SectionReply(BaseModel):
    """A range of lines that tells the same columns of many records."""

    id: str = Field(description="short unique id, for example s1")
    title: str = Field(default="", description="what it tells, in a few words")
    start_line: int = Field(description="first line that tells of a record here")
    end_line: int = Field(description="last line that tells of a record here, inclusive")
    columns: list[str] = Field(description="the key first, then the columns told here")

    @field_validator("id", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return str(value) if isinstance(value, int | float) else value


class ColumnReply(BaseModel):
    """A column of the table."""

    name: str = Field(description="the knowledge's field name, else snake_case")
    doc_meaning: str = Field(description="what it is and how the document writes it, with the document's unit")
    task_meaning: str = Field(description="what the table shall hold, with the target unit")
    unit: str = Field(default="", description="target unit, empty for none")
    type: str = Field(default="text", description="text, integer, number, date, datetime, boolean or duration")
    role: str = Field(default="data", description="key, data or noise")


class PlanReply(BaseModel):
    """How the document becomes a table."""

    key: str = Field(description="name of the column that identifies a record")
    columns: list[ColumnReply] = Field(description="every column of the table, the key first")
    sections: list[SectionReply]
    anchors: list[str] = Field(description="regular expressions with one group, the record's id as written")
    records: list[str] = Field(description="record ids in text order: all when there are at most 60, else the first 30")
    records_complete: bool = Field(default=False, description="whether `records` lists every record")

    @field_validator("records", mode="before")
    @classmethod
    def _as_texts(cls, value: object) -> object:
        """Ids written as numbers; one that lost its zeros so is told by the count."""
        return [str(item) if isinstance(item, int) else item for item in value] if isinstance(value, list) else value
