"""configs/*.toml + environment → frozen Settings. The only reader of the environment."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from tasks.core.asking import EndpointSettings, RetrySettings, RoleSettings
from tasks.core.auditing import ProcessSettings, VerifySettings
from tasks.core.errors import InputError
from tasks.core.files.paths import is_file
from tasks.core.learning import PatternSettings
from tasks.core.mistakes import Layer, explained
from tasks.core.models.value import Value
from tasks.core.sections import (
    PROJECT,
    AgentSettings,
    BatchSettings,
    BriefSettings,
    BudgetSettings,
    ContractSettings,
    ConvertSettings,
    DatabasesSettings,
    DocumentSettings,
    ExtractSettings,
    IntakeSettings,
    JournalSettings,
    LocalSettings,
    LogSettings,
    MachinesSettings,
    MetadataSettings,
    NormaliseSettings,
    PlanSettings,
    PrefectSettings,
    ProfilingSettings,
    PublishSettings,
    QuerySettings,
    RecallSettings,
    RelevanceSettings,
    SandboxSettings,
    SolverSettings,
    StoreSettings,
    StoresSettings,
    TracesSettings,
    VideoSettings,
    VoteSettings,
)

_GRID = "benchmark"
"""The file of `configs/` that is no profile: it says what a benchmark measures."""
_SECRETS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_CREDENTIALS", "_HEADERS", "_AUTH_STRING")
"""Ends of the names of variables that hold secrets."""
_PASSWORD = re.compile(r"://[^/\s@]*:[^/\s]+@")
"""A URL with user and password, as of a database or a proxy."""


class Settings(Value):
    """All of it. Stages get the section they need, so that another section never voids their cache."""

    profile: str
    store: StoreSettings
    prefect: PrefectSettings
    log: LogSettings
    traces: TracesSettings
    journal: JournalSettings
    retry: RetrySettings
    endpoints: dict[str, EndpointSettings]
    roles: dict[str, RoleSettings]
    budget: BudgetSettings
    batch: BatchSettings
    machines: MachinesSettings
    intake: IntakeSettings
    databases: DatabasesSettings
    document: DocumentSettings
    convert: ConvertSettings
    vote: VoteSettings
    plan: PlanSettings
    extract: ExtractSettings
    patterns: PatternSettings
    normalise: NormaliseSettings
    video: VideoSettings
    profiling: ProfilingSettings
    metadata: MetadataSettings
    relevance: RelevanceSettings
    recall: RecallSettings
    stores: StoresSettings
    brief: BriefSettings
    contract: ContractSettings
    agent: AgentSettings
    process: ProcessSettings
    verify: VerifySettings
    query: QuerySettings
    sandbox: SandboxSettings
    publish: PublishSettings
    local: LocalSettings

    @property
    def solver(self) -> SolverSettings:
        """The sections that the solver works under."""
        return SolverSettings(
            agent=self.agent, process=self.process, verify=self.verify, query=self.query, sandbox=self.sandbox
        )

    def role(self, name: str) -> RoleSettings:
        """The settings of a role; a role that no file names has those of `default`."""
        return self.roles.get(name, self.roles["default"])

    def endpoint(self, name: str) -> EndpointSettings:
        """An endpoint as this process may use it: its share of the requests that may be in flight there."""
        whole = self.endpoints[name]
        return whole.model_copy(update={"concurrency": whole.concurrency // self.machines.shares})


def load(profile: str = "default", overrides: dict[str, Any] | None = None) -> Settings:
    """Read `default.toml`, then the profile and what it `extends`, then the environment, then `overrides` (nested tables).

    A profile `A+B` is A with B laid over it. Raises InputError when a file is missing, is no TOML, or names a setting that does not exist.
    """
    data: dict[str, Any] = {}
    layers = _files(profile)
    for layer in layers:
        data = _merge(data, layer.data)
    for layer in (Layer("the environment", _from_environment(data)), Layer("the request", overrides or {})):
        layers.append(layer)
        data = _merge(data, layer.data)
    roles = data["roles"]
    if isinstance(roles, dict) and isinstance(base := roles["default"], dict):
        data["roles"] = {name: {**base, **role} if isinstance(role, dict) else role for name, role in roles.items()}
    data["profile"] = profile
    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        raise explained(error, Settings, layers) from error
    _check_endpoints(settings)
    return settings


def secret(name: str) -> SecretStr:
    """The secret that the environment holds under this name; empty when it holds none."""
    return SecretStr(os.environ.get(name, "")) if name else SecretStr("")


def environment(**extra: str) -> dict[str, str]:
    """The environment for a child of ours: this process's own without model keys, plus `extra`."""
    kept = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_TOKEN", "_SECRET"))}
    return {**kept, **extra}


def workers_environment(**extra: str) -> dict[str, str]:
    """The environment for a child that reads files or runs queries: also without other secrets, and URLs with a password."""
    kept = {k: v for k, v in environment().items() if not k.upper().endswith(_SECRETS) and not _PASSWORD.search(v)}
    return {**kept, **extra}


def set_default(name: str, value: str) -> None:
    """Set an environment variable that a library reads, unless the user has set it."""
    os.environ.setdefault(name, value)


def profiles() -> tuple[str, ...]:
    """Names that `--profile` takes, without path."""
    names = (path.stem for path in (PROJECT / "configs").glob("*.toml"))
    return tuple(sorted(name for name in names if name != _GRID))


def _files(profile: str) -> list[Layer]:
    """`default.toml`, then the files of each profile of `A+B`; a file whose own name holds a `+` is one."""
    default = PROJECT / "configs" / "default.toml"
    names = [profile] if is_file(Path(profile)) else profile.split("+")
    return [Layer(str(default), _read(default)), *(layer for name in names for layer in _chain(name))]


def _chain(profile: str) -> list[Layer]:
    """A profile's files, each after the one that it extends; none of `default`."""
    found: list[Layer] = []
    paths: list[Path] = []
    name, beside = profile, Path()
    while name != "default":
        path = _profile_path(name, beside)
        if path.resolve() in paths:
            raise InputError(f"the profile {path} extends itself", "take `extends` out of one of its files")
        data = _read(path)
        name = data.pop("extends", "default")
        if not isinstance(name, str) or not name:
            raise InputError(f"{path}: extends = {name!r} is no profile", f"choose one of {', '.join(profiles())}")
        found.insert(0, Layer(str(path), data))
        paths.append(path.resolve())
        beside = path.parent
    return found


def _profile_path(profile: str, beside: Path) -> Path:
    """The file of a name, or of a path as seen from the folder `beside`."""
    if profile == _GRID:
        raise InputError(
            f"configs/{_GRID}.toml is no profile: it names those that a benchmark measures",
            f"choose one of {', '.join(profiles())}, or run `tablewright benchmark run --config {_GRID}`",
        )
    path = beside / profile if profile.endswith(".toml") else PROJECT / "configs" / f"{profile}.toml"
    if not is_file(path):
        hint = f"choose one of {', '.join(profiles())} or give the path of a .toml"
        if is_file(beside / f"{profile}.toml"):
            hint = f"the file {beside / profile}.toml is meant by its whole name, {profile}.toml"
        raise InputError(f"no profile {profile!r}", hint)
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot read settings from {path}: {error}", _step(error)) from error


def _step(error: Exception) -> str:
    return "give it read permission" if isinstance(error, OSError) else "mend the file: it is TOML, in UTF-8"


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _from_environment(files: dict[str, Any]) -> dict[str, Any]:
    """What variables override; a model that the files have served here stays here, whatever endpoint the shell names."""
    found: dict[str, Any] = {}
    for variable, *path in (
        ("MODEL_API_URL", "endpoints", "main", "url"),
        ("MODEL_NAME", "endpoints", "main", "model"),
        ("TABLEWRIGHT_STORE", "store", "path"),
        ("TABLEWRIGHT_STORE_BLOCK", "store", "block"),
        ("PREFECT_API_URL", "prefect", "api_url"),
        ("TABLEWRIGHT_RUNNER", "machines", "runner"),
        ("TABLEWRIGHT_SCHEDULER", "machines", "scheduler"),
        ("TABLEWRIGHT_SHARES", "machines", "shares"),
        ("HF_ENDPOINT", "local", "hub_url"),
        ("TABLEWRIGHT_LOG", "log", "file"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "traces", "url"),
    ):
        if value := os.environ.get(variable, "").strip():
            inner: Any = value
            for key in reversed(path):
                inner = {key: inner}
            found = _merge(found, inner)
    if "endpoints" in found and _is_served(files):
        del found["endpoints"]
    if roots := os.environ.get("TABLEWRIGHT_ROOTS", "").strip():
        found = _merge(found, {"prefect": {"roots": tuple(filter(None, roots.split(os.pathsep)))}})
    return found


def _is_served(files: dict[str, Any]) -> bool:
    main: Any = files
    for name in ("endpoints", "main"):
        main = main.get(name) if isinstance(main, dict) else None
    return isinstance(main, dict) and main.get("serve") is True


def _check_endpoints(settings: Settings) -> None:
    for role, values in settings.roles.items():
        for name in values.endpoints:
            if name not in settings.endpoints:
                raise InputError(
                    f"role {role!r} of profile {settings.profile!r} names the endpoint {name!r}, which no file defines",
                    f"add [endpoints.{name}] with its url and model, or name one of {', '.join(settings.endpoints)}",
                )
            if not settings.endpoint(name).concurrency:
                raise InputError(
                    f"endpoints.{name}.concurrency = {settings.endpoints[name].concurrency} cannot be cut into "
                    f"machines.shares = {settings.machines.shares}: a process could ask nothing",
                    "have fewer processes, or a gateway that keeps the limit and machines.shares = 1",
                )
