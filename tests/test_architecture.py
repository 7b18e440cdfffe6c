"""The rules of CONTRIBUTING.md that a machine can check."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted([*ROOT.glob("flows/**/*.py"), *ROOT.glob("tasks/**/*.py")])
WORKFLOWS = ("intake", "document", "solve", "benchmark")
DOORS = {
    "prefect": ("flows/", "tasks/stage.py", "tasks/artifacts.py"),
    "litellm": ("tasks/core/llm/client.py",),
    "pymupdf": ("tasks/document/convert.py", "tasks/benchmark/reporting/plots.py"),
    "duckdb": ("tasks/core/sql/",),
    "subprocess": ("tasks/core/process.py", "tasks/core/nursery.py", "tasks/core/sandbox/"),
    "multiprocessing": (),
    "xllamacpp": ("tasks/core/llm/local/server.py",),
    "rapidocr": ("tasks/core/ocr.py",),
    "cv2": ("tasks/intake/watching/slides.py",),
    "psycopg": ("tasks/core/stores/dialects.py", "tasks/intake/snapshotting/postgres.py"),
    "pymysql": ("tasks/core/stores/dialects.py", "tasks/intake/snapshotting/mysql.py"),
    "qdrant_client": ("tasks/core/stores/qdrant.py",),
}
HEAVY_AT_IMPORT = (
    "prefect",
    "litellm",
    "duckdb",
    "pandas",
    "pymupdf",
    "pyarrow",
    "xllamacpp",
    "rapidocr",
    "cv2",
    "qdrant_client",
)
BROAD_EXCEPT = {"tasks/core/llm/client.py": "model", "tasks/core/sandbox/": "sandbox", "tasks/intake/loading/loader.py": "file reader",
                "tasks/document/converting/reader.py": "file reader",
                "tasks/solve/auditing/ask.py": "validator", "tasks/solve/checking/look.py": "validator",
                "tasks/core/process.py": "worker", "flows/batch.py": "batch task",
                "flows/running/trial.py": "batch task"}  # fmt: skip
BANNED = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base", "v2"}
FILE_CAP, FILE_MEDIAN, FUNCTION_CAP, FLOW_CAP, PARAMETER_CAP = 400, 150, 40, 60, 5


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imports_of(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def starts(name: str, places: tuple[str, ...]) -> bool:
    return any(name == place or (place.endswith("/") and name.startswith(place)) for place in places)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_point_down_and_heavy_packages_have_one_door(path: Path) -> None:
    name, imports = name_of(path), imports_of(tree_of(path))
    top = {module.split(".")[0] for module in imports}
    for package, places in DOORS.items():
        assert package not in top or starts(name, places), f"{name} imports {package}; its doors are {places}"
    if name.startswith("tasks/"):
        assert "flows" not in top
    if name.startswith("tasks/core/"):
        ours = {module for module in imports if module.startswith("tasks.")}
        assert all(module.startswith("tasks.core") for module in ours), f"{name} looks up: {ours}"
    own = name.split("/")[1] if name.startswith("tasks/") else ""
    for other in WORKFLOWS:
        reached = any(module.startswith(f"tasks.{other}") for module in imports)
        assert own not in WORKFLOWS or other == own or not reached, f"{name} imports tasks.{other}; they meet in flows"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_environment_and_processes_have_one_door(path: Path) -> None:
    name = name_of(path)
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            dotted = f"{node.value.id}.{node.attr}"
            if dotted in {"os.environ", "os.getenv", "os.putenv"}:
                assert name == "tasks/core/settings.py", f"{name} reads the environment"
            if dotted in {"os.system", "os.popen", "os.fork", "asyncio.create_subprocess_exec", "os.posix_spawn"}:
                places = (*DOORS["subprocess"], "tasks/core/answering.py")  # that forks the children of a nursery
                assert starts(name, places), f"{name} starts a process"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_modules_and_functions_are_short_and_named(path: Path) -> None:
    name, tree = name_of(path), tree_of(path)
    assert len(path.read_text("utf-8").splitlines()) <= FILE_CAP, f"{name} is longer than {FILE_CAP} lines"
    assert path.stem not in BANNED
    assert (path.stem == "__init__" and not tree.body) or ast.get_docstring(tree), f"{name} has no module docstring"
    cap = FLOW_CAP if name.startswith("flows/") and name.count("/") == 1 else FUNCTION_CAP
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        body = node.body[1:] if ast.get_docstring(node) else node.body
        lines = node.end_lineno - body[0].lineno + 1 if body and node.end_lineno else 0
        assert lines <= cap, f"{name}:{node.lineno} {node.name} has {lines} lines, more than {cap}"
        arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        count = len([a for a in arguments if a not in {"self", "cls"}])
        is_command = any("command" in ast.unparse(d) for d in node.decorator_list)
        is_stage = any(ast.unparse(d).startswith("stage") for d in node.decorator_list)
        assert count <= PARAMETER_CAP or is_command or is_stage, f"{name}:{node.lineno} {node.name} takes {count}"


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_each_workflow_says_the_order_of_its_stages(workflow: str) -> None:
    package = ROOT / "tasks" / workflow
    told = ast.get_docstring(tree_of(package / "__init__.py")) or ""
    stages = {path.stem for path in package.glob("*.py") if "\n@stage(" in path.read_text("utf-8")}
    assert stages and not {name for name in stages if not re.search(rf"\b{name}\b", told)}


def test_the_flows_are_all_named_where_they_begin() -> None:
    told = ast.get_docstring(tree_of(ROOT / "flows" / "__init__.py")) or ""
    names = {path.stem for path in (ROOT / "flows").glob("*") if path.stem not in {"__init__", "__pycache__"}}
    assert not {name for name in names if f"`{name}`" not in told}


def test_the_median_module_is_short() -> None:
    lengths = [len(path.read_text("utf-8").splitlines()) for path in SOURCES if path.stem != "__init__"]
    assert statistics.median(lengths) <= FILE_MEDIAN


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_broad_excepts_stand_only_at_the_doors(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ExceptHandler):
            kind = ast.unparse(node.type) if node.type else "bare"
            reraises = any(isinstance(inner, ast.Raise) and inner.exc is None for inner in node.body)
            broad = kind in {"bare", "Exception"} or (kind == "BaseException" and not reraises)
            assert not broad or starts(name_of(path), tuple(BROAD_EXCEPT)), (
                f"{name_of(path)}:{node.lineno} except {kind}"
            )


def test_importing_everything_does_nothing() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in SOURCES
        if name_of(path) not in {"flows/deployed.py", "tasks/core/llm/local/server.py"} and path.stem != "boot"
    ]
    script = f"""
import sys
acts = []
def watch(event, args):
    if event in ("socket.connect", "subprocess.Popen", "os.fork", "os.mkdir", "os.remove", "os.rename"):
        acts.append((event, str(args)[:200]))
    if event == "open" and isinstance(args[0], str) and not args[0].endswith((".py", ".pyc", ".so")):
        if args[0].startswith({str(ROOT)!r}) and "/.venv/" not in args[0]:
            acts.append((event, args[0]))
sys.addaudithook(watch)
import importlib
for name in {modules!r}:
    importlib.import_module(name)
heavy = [name for name in {HEAVY_AT_IMPORT!r} if name in sys.modules]
assert not heavy, f"imported on import: {{heavy}}"
assert not acts, acts
"""
    done = subprocess.run([sys.executable, "-B", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_stages_take_and_return_values() -> None:
    script = """
import importlib, inspect, pkgutil, typing
from datetime import date
from pydantic import BaseModel
import tasks
from tasks.stage import Stage
from tasks.core.models.value import Value

def is_value(hint):
    origin = typing.get_origin(hint)
    if hint in (str, int, float, bool, type(None), date) or hint is Ellipsis:
        return True
    if origin is typing.Literal:
        return True
    if origin is not None:
        return origin in (tuple, list, dict, typing.Union) or str(origin) == "<class 'types.UnionType'>" and all(map(is_value, typing.get_args(hint)))
    return isinstance(hint, type) and issubclass(hint, Value)

found = 0
for module in pkgutil.walk_packages(tasks.__path__, "tasks."):
    if module.name.split(".")[1] in ("core", "stage"):
        continue
    loaded = importlib.import_module(module.name)
    for name, made in vars(loaded).items():
        if isinstance(made, Stage) and made.function.__module__ == module.name:
            found += 1
            assert inspect.iscoroutinefunction(made.function), name
            hints = typing.get_type_hints(made.function)
            assert set(inspect.signature(made.function).parameters) | {"return"} == set(hints), f"{name}: every parameter needs a type"
            for key, hint in hints.items():
                assert is_value(hint) and all(map(is_value, typing.get_args(hint))), f"{module.name}.{name}: {key} is {hint}"
            for prompt in made.prompts:
                assert prompt.is_file(), prompt
print(found)
"""
    done = subprocess.run([sys.executable, "-B", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) >= 8


def test_every_setting_is_explained() -> None:
    path = ROOT / "configs" / "default.toml"
    tomllib.loads(path.read_text("utf-8"))
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip() and not line.startswith(("#", "[")):
            assert "#" in line, f"default.toml:{number} has no reason: {line}"


def test_e6_the_tree_and_the_packages_are_those_that_were_asked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {re.split(r"[^a-z0-9-]", line, maxsplit=1)[0] for line in project["dependencies"]}
    assert {"prefect", "duckdb", "pandas", "pymupdf", "litellm", "pydantic", "pyarrow", "pytest"} <= names
    assert all((ROOT / folder).is_dir() for folder in ("flows", "tasks", "configs", "tests", "deployments", "data"))


def test_lock_files_are_hashed_and_name_no_host() -> None:
    for path in ROOT.glob("requirements*.txt"):
        text = path.read_text("utf-8")
        pinned = [line for line in text.splitlines() if "==" in line and not line.startswith((" ", "#"))]
        least = 100 if path.stem in ("requirements", "requirements-dev") else 3  # an extra alone, on top of these
        assert len(pinned) > least and text.count("--hash=sha256:") >= len(pinned)
        assert "://" not in text and "--index" not in text


def test_the_repository_speaks_of_the_project_alone() -> None:
    words = ("/wo" + "rk/", "llm_" + "desk", "sub" + "agent", "bash_" + "jobs")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no git checkout")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".html", ".yaml", ".txt", ".json", ""} and path.is_file():
            text = path.read_text("utf-8", errors="ignore")
            assert not [word for word in words if word in text], name


def test_every_truth_table_is_read_by_a_test() -> None:
    said = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
    tables = [path.name for folder in ("checking", "intake") for path in (ROOT / "tests/cases" / folder).glob("*.toml")]
    assert tables and not [name for name in tables if f'"{name}"' not in said]
