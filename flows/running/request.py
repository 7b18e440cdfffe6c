"""What a user asks for: folder, question, profile, day and place of the answer."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from flows.running.task import read_task
from tasks.core.errors import InputError
from tasks.core.files.paths import check_folder, expand, is_file, other_folder
from tasks.core.models.answer import Question
from tasks.core.models.source import Inventory

Style = Literal["profile", "tools", "json", "single"]


class Request(BaseModel):
    """What is asked of a folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    FLOW: ClassVar[Literal["answer", "document"]] = "answer"
    PLACE: ClassVar[str] = "answers"
    """Folder of the store for files without a folder of their own."""
    ROLE: ClassVar[str] = "agent"
    """The role without whose model the run could do nothing."""

    folder: str = Field(
        title="Folder", description="Path of the folder with the tables, on the machine that runs tablewright."
    )
    question: str = Field(
        default="", title="Question", description="In any language. Empty: the question of the folder's task.json."
    )
    profile: str = Field(
        default="default",
        title="Profile",
        description="Settings from configs/: default asks the endpoint of MODEL_API_URL, local a small model on this machine.",
    )
    as_of: date | None = Field(
        default=None,
        title="As of",
        description="The day that 'today' in the question means. Empty: the day of the run.",
    )
    out: str = Field(
        default="", title="Output folder", description="Where the files go. Empty: a folder of the run in the store."
    )
    seconds: float = Field(
        default=0,
        ge=0,
        title="Time limit",
        description="Seconds after which the run asks no more and ends with what it has. 0: the profile's budget.",
    )

    run: SkipJsonSchema[str] = ""
    """Id of the run of which this is another try; empty: a new run. No field of the form."""

    shares: SkipJsonSchema[int] = Field(default=0, ge=0)
    """Of `machines.shares`: what a batch elsewhere says of the processes that ask beside this one; 0: what the settings say."""

    draft: SkipJsonSchema[str] = Field(default="", pattern=r"^([0-9a-f]{32})?$")
    """Under which name its candidates are told to whoever waits for it elsewhere; empty: nobody does. No field of the form."""

    def overrides(self) -> dict[str, Any]:
        """What the request changes in the settings of its profile."""
        seconds = {"budget": {"seconds": self.seconds}} if self.seconds else {}
        return {**seconds, **({"machines": {"shares": self.shares}} if self.shares else {})}


class AnswerRequest(Request):
    """One question over one folder of tables."""

    model_config = ConfigDict(title="Question")

    style: Style = Field(
        default="profile",
        title="Style",
        description="How the model works: tools calls tools, json writes one action a turn, single writes one query.",
    )
    csv_name: str = Field(
        default="answer.csv", title="Name of the table", description="File name of the answer's table."
    )
    base: str = Field(
        default="",
        title="Catalogue of",
        description="Id of an earlier run: the question is asked over the folder as that run found it. Empty: the folder is read.",
    )
    workbook: bool = Field(
        default=False, title="Excel", description="Write the answer as an .xlsx file too, beside the table."
    )

    @property
    def workbook_name(self) -> str:
        """File name of the Excel file: that of the table with another ending."""
        return f"{PurePosixPath(self.csv_name).stem}.xlsx"

    def overrides(self) -> dict[str, Any]:
        """The style, too."""
        style = {} if self.style == "profile" else {"agent": {"style": self.style}}
        return {**super().overrides(), **style}


class SolveRequest(AnswerRequest):
    """Another question over the folder of an earlier run, as that run found it."""

    model_config = ConfigDict(title="Another question")

    folder: SkipJsonSchema[str] = ""
    """The earlier run's; no field of the form."""
    question: str = Field(min_length=1, title="Question", description="In any language.")
    base: str = Field(
        min_length=1,
        title="Catalogue of",
        description="Id of the earlier run, or its beginning; `tablewright runs` lists them. The folder is not read again.",
    )


class DocumentRequest(Request):
    """The documents of one folder; with a question those that matter for it."""

    model_config = ConfigDict(title="Documents")

    FLOW: ClassVar[Literal["answer", "document"]] = "document"
    PLACE: ClassVar[str] = "tables"
    ROLE: ClassVar[str] = "extract"
    question: str = Field(
        default="", title="Question", description="In any language. Empty: every document is drawn from."
    )
    only: tuple[str, ...] = Field(
        default=(),
        title="Only",
        description="Documents by name, with or without suffix, or by path in the folder. Empty: all of them.",
    )

    def chosen(self, inventory: Inventory) -> Inventory:
        """The inventory with no documents but those of `only`. Raises InputError when one of them is not there."""
        wanted = {name: PurePosixPath(name).as_posix().casefold() for name in self.only}
        calls = {file.path: _calls(file.path) for file in inventory.of("document")}
        for name, folded in wanted.items():
            if not any(folded in called for called in calls.values()):
                known = ", ".join(sorted(calls)) or "none"
                other = next((file for file in inventory.files if folded in _calls(file.path)), None)
                what = f"{other.path} is no document that can be read: {other.reason or other.kind}" if other else ""
                raise InputError(what or f"there is no document {name!r}", f"the folder's documents: {known}")
        if not wanted:
            return inventory
        left = {path for path, called in calls.items() if called.isdisjoint(wanted.values())}
        changes = {"outcome": "ignored", "reason": "not among the documents that were asked for"}
        kept = [file.model_copy(update=changes) if file.path in left else file for file in inventory.files]
        return inventory.model_copy(update={"files": tuple(kept)})


def _calls(path: str) -> set[str]:
    """What a user may call a file: its path, its name, its name without suffix."""
    parts = PurePosixPath(path)
    return {called.casefold() for called in (path, path.removeprefix("context/"), parts.name, parts.stem)}


def make(**given: Any) -> AnswerRequest:
    """A request of these fields. Raises InputError for a value that a field does not take."""
    try:
        return AnswerRequest(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{name} {first['input']!r}: {first['msg']}", "see `tablewright answer --help`") from error


def question_of(request: Request, today: date) -> Question:
    """The question with its day, from the request or the folder's `task.json`; that of documents may be empty.

    Raises InputError when there is no such folder, or nothing is asked.
    """
    if not (isinstance(request, AnswerRequest) and request.base):
        check_folder(request.folder, "the folder with the tables")
    as_of = request.as_of or today
    if text := request.question.strip():
        return Question(text=text, as_of=as_of)
    if isinstance(request, DocumentRequest):
        return Question(text="", as_of=as_of)
    task = read_task(request.folder)
    if task is None:
        raise InputError("no question is asked", 'add it: tablewright answer FOLDER "question"')
    return Question(text=task.question, as_of=as_of, task_id=task.task_id, difficulty=task.difficulty)


def check_store(folder: str, store: Path) -> None:
    """Raise InputError when the store lies among the sources, which are never written to."""
    if store.is_relative_to(expand(folder).resolve()):
        raise InputError(
            f"the store {store} lies in the folder {folder}, whose files are sources",
            "set TABLEWRIGHT_STORE or store.path to a folder outside of it",
        )


def check_out(request: Request, out: Path) -> None:
    """Raise InputError when files cannot be written there, or it is among the sources, which are never written to."""
    if out.resolve().is_relative_to(expand(request.folder).resolve()):
        raise InputError(
            f"the output folder {out} lies in the folder {request.folder}, whose files are sources",
            "choose an output folder outside of it",
        )
    if is_file(out):
        raise InputError(f"the output folder {out} is a file", f"give a folder, as {other_folder(out)}")
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise InputError(f"cannot write to the output folder {out}: {error.strerror}", "choose another one") from error
    if (out / "derived").exists() and not (out / "derived").is_dir():
        raise InputError(
            f"{out / 'derived'} is no folder, and tables are written there", "move it, or choose another one"
        )
    table = [request.csv_name, request.workbook_name] if isinstance(request, AnswerRequest) else []
    for name in (*table, "evidence.json", "report.html"):
        if (out / name).is_dir():
            raise InputError(f"{out / name} is a folder, and a file is written there", "move it, or choose another one")
