"""The sections of configs/*.toml, each as a frozen model: a stage gets the one it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from tasks.core.auditing import ProcessSettings, VerifySettings
from tasks.core.files.paths import expand
from tasks.core.models.answer import Style
from tasks.core.models.value import Location, Value

PROJECT = Path(__file__).resolve().parents[2]
"""The checkout: where `configs/` lies and relative settings start."""


class StoreSettings(Value):
    """Where artifacts, records and the journal are kept."""

    path: str
    block: str
    min_free_mb: int = Field(ge=0)
    keep_days: float = Field(ge=0)

    @property
    def folder(self) -> Path:
        """Absolute path of the local store."""
        return (PROJECT / expand(self.path)).resolve()


class PrefectSettings(Value):
    """The server that runs are shown on, when it is there."""

    api_url: str
    probe_seconds: float = Field(gt=0)
    lost_seconds: float = Field(gt=0)
    roots: tuple[str, ...]


class LogSettings(Value):
    """What runs write of what they do."""

    file: str


class TracesSettings(Value):
    """Where spans of runs go."""

    url: str
    headers_env: str
    """Name of the environment variable with headers, which may hold secrets."""
    seconds: float = Field(gt=0)


class JournalSettings(Value):
    """Replies kept below the stage cache."""

    mode: Literal["live", "record", "replay"]
    repeat: int = Field(ge=0)
    wait_seconds: float = Field(ge=0)
    recordings: str

    @property
    def folder(self) -> Path | None:
        """Absolute path of the recordings; None when there are none."""
        return (PROJECT / Path(self.recordings).expanduser()).resolve() if self.recordings else None


class BudgetSettings(Value):
    """Limits of one run; 0 = none."""

    calls: int = Field(ge=0)
    tokens: int = Field(ge=0)
    money: float = Field(ge=0)
    seconds: float = Field(ge=0)
    reserve_seconds: float = Field(ge=0)


class BatchSettings(Value):
    """Many tasks in one go."""

    concurrency: int = Field(ge=0)
    task_mb: int = Field(ge=100)
    grace_seconds: float = Field(ge=0)
    stop_seconds: float = Field(gt=0, le=9)
    least_seconds: float = Field(ge=0)
    late_seconds: float = Field(ge=0)
    late_profile: str


class MachinesSettings(Value):
    """Questions of a batch or a benchmark on several processes or machines."""

    runner: Literal["here", "threads", "dask", "pool"]
    scheduler: str
    deployment: str
    shares: int = Field(ge=1)
    beat_seconds: float = Field(gt=0)
    lost_seconds: float = Field(gt=0)
    again: int = Field(ge=0)


class IntakeSettings(Value):
    """Reading files."""

    max_files: int = Field(ge=1)
    file_seconds: float = Field(gt=0)
    memory_mb: int = Field(ge=256)
    sample_bytes: int = Field(ge=1024)


class DatabasesSettings(Value):
    """Reading live databases."""

    hosts: tuple[str, ...]
    seconds: float = Field(gt=0)
    memory_mb: int = Field(ge=256)
    max_tables: int = Field(ge=1)
    max_rows: int = Field(ge=1)
    max_mb: int = Field(ge=1)


class ConvertSettings(Value):
    """Documents to text."""

    page_seconds: float = Field(gt=0)
    file_seconds: float = Field(gt=0)
    memory_mb: int = Field(ge=256)
    page_chars: int = Field(ge=1)
    ocr: bool


class VoteSettings(Value):
    """Judging which tables and documents matter."""

    enabled: bool
    rounds: int = Field(ge=1, le=9)
    extra_batches: int = Field(ge=0)
    knowledge_chars: int = Field(ge=0)
    preview_lines: int = Field(ge=1)
    preview_chars: int = Field(ge=10)


class PlanSettings(Value):
    """The plan of one document's table."""

    writer: Literal["model", "rules"]
    sample_tokens: int = Field(ge=500)
    global_chars: int = Field(ge=0)
    local_chars: int = Field(ge=0)
    retries: int = Field(ge=0)


class ExtractSettings(Value):
    """One slice of a section."""

    records: int = Field(ge=1)
    tokens: int = Field(ge=200)
    retries: int = Field(ge=0)
    continuations: int = Field(ge=0)
    max_records: int = Field(ge=0)


class NormaliseSettings(Value):
    """Raw texts to values."""

    model_code: bool
    rounds: int = Field(ge=1)
    seconds: float = Field(gt=0)
    examples: int = Field(ge=1)


class DocumentSettings(Value):
    """The document workflow."""

    enabled: bool
    concurrency: int = Field(ge=1)
    good_share: float = Field(ge=0, le=1)


class SpeechSettings(Value):
    """Who hears what is said in a video."""

    model: str
    """Empty = nobody."""
    url: Annotated[str, Location()]
    key_env: Annotated[str, Location()]
    megabytes: int


class VideoSettings(Value):
    """Videos to text."""

    enabled: bool
    file_seconds: float = Field(gt=0)
    memory_mb: int = Field(ge=256)
    sample_seconds: float = Field(gt=0)
    change_share: float = Field(gt=0, le=1)
    still_seconds: float = Field(ge=0)
    moving_seconds: float = Field(gt=0)
    max_slides: int = Field(ge=1)
    speech: str
    speech_url: Annotated[str, Location()]
    speech_key_env: Annotated[str, Location()]
    """Name of the environment variable that holds the key."""
    speech_mb: int = Field(ge=1)

    @property
    def hearing(self) -> SpeechSettings:
        """What speech is heard with; it never voids what was seen."""
        return SpeechSettings(
            model=self.speech, url=self.speech_url, key_env=self.speech_key_env, megabytes=self.speech_mb
        )

    @property
    def seeing(self) -> VideoSettings:
        """These without what only hearing needs, which thus never voids what was seen."""
        return self.model_copy(update={"speech": "", "speech_mb": 1})


class ProfilingSettings(Value):
    """Measuring tables."""

    examples: int = Field(ge=0)
    join_columns: int = Field(ge=0)
    join_min_match: float = Field(ge=0, le=1)
    seconds: float = Field(gt=0)


class MetadataSettings(Value):
    """What tables and columns are about."""

    examples: int = Field(ge=0)
    fact_links: int = Field(ge=1)


class RelevanceSettings(Value):
    """Which tables a question needs."""

    from_tokens: int = Field(ge=0)
    knowledge_chars: int = Field(ge=0)
    video_chars: int = Field(ge=0)
    sample_rows: int = Field(ge=0)
    cell_chars: int = Field(ge=1)
    batches: int = Field(ge=1)


class RecallSettings(Value):
    """Which columns, metrics and values a question may mean."""

    expand: bool
    columns: int = Field(ge=1)
    metrics: int = Field(ge=1)
    values: int = Field(ge=1)
    value_cap: int = Field(ge=0)
    value_chars: int = Field(ge=1)
    scan_seconds: float = Field(ge=0)
    seconds: float = Field(gt=0)
    filter: bool
    embedding: str
    embedding_url: Annotated[str, Location()]
    embedding_key_env: Annotated[str, Location()]
    """Name of the environment variable that holds the key."""
    batch: int = Field(ge=1)


class StoresSettings(Value):
    """Where recall searches; which server it is changes no result."""

    text: Literal["embedded", "elasticsearch", "opensearch"]
    text_url_env: Annotated[str, Location()]
    text_key_env: Annotated[str, Location()]
    vectors: Literal["embedded", "qdrant"]
    vectors_url_env: Annotated[str, Location()]
    vectors_key_env: Annotated[str, Location()]
    metadata: Literal["embedded", "postgresql", "mysql"]
    metadata_url_env: Annotated[str, Location()]
    prefix: Annotated[str, Location(), Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")]
    seconds: float = Field(gt=0)


class BriefSettings(Value):
    """The first prompt's tables."""

    tokens: int = Field(ge=200)
    example_chars: int = Field(ge=5)
    layout: Literal["plain", "ddl"]
    tables: int = Field(ge=0)


class ContractSettings(Value):
    """Who writes the expected answer."""

    enabled: bool


class AgentSettings(Value):
    """The solver's loop."""

    style: Style
    turns: int = Field(ge=1)
    same_call_limit: int = Field(ge=2)
    result_chars: int = Field(ge=200)
    confident_share: float = Field(ge=0, le=1)


class QuerySettings(Value):
    """Bounds of one query."""

    seconds: float = Field(gt=0)
    memory_mb: int = Field(ge=256)
    preview_rows: int = Field(ge=1)
    max_rows: int = Field(ge=1)


class SandboxSettings(Value):
    """Bounds of one generated program."""

    seconds: float = Field(gt=0)
    cpu_seconds: int = Field(ge=1)
    memory_mb: int = Field(ge=256)
    file_mb: int = Field(ge=1)
    output_kb: int = Field(ge=1)
    processes: int = Field(ge=1)


class SolverSettings(Value):
    """What bounds an attempt: the loop, its queries, its programs."""

    agent: AgentSettings
    process: ProcessSettings
    verify: VerifySettings
    query: QuerySettings
    sandbox: SandboxSettings


class PublishSettings(Value):
    """What is written at the end."""

    preview_rows: int = Field(ge=1)
    join_audit: bool


class LocalSettings(Value):
    """The model that tablewright serves itself."""

    file: str
    name: str
    sha256: str
    size: int
    hub_url: str
    hub_repository: str
    registry_packages: str
    registry_parts: int
    cache: str
    slots: int = Field(ge=1)
    context: int = Field(ge=512)
    threads: int = Field(ge=0)
    start_seconds: float = Field(gt=0)
    idle_seconds: float = Field(gt=0)
