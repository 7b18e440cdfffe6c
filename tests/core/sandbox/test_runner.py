"""What a program can do, and what it costs when it goes wrong."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from outside import alive
from world import wait_for

from tasks.core.errors import SandboxError
from tasks.core.sandbox import tiers
from tasks.core.sandbox.cage import Cage
from tasks.core.sandbox.runner import ProgramResult, run_in, run_program
from tasks.core.settings import load

ROOT = Path(__file__).parents[3]
LIMITS = load().sandbox


def run(cage: Cage, program: str, inputs: dict[str, Path] | None = None, **limits: Any) -> ProgramResult:
    return asyncio.run(run_in(cage, program, inputs or {}, LIMITS.model_copy(update=limits)))


def test_packages_work_on_input_files(cage: Cage, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("城市,n\n北京,1\n上海,2\n北京,3\n", "utf-8")
    (tmp_path / "数据.json").write_text('{"a": [1, 2]}', "utf-8")
    program = """
import json, numpy as np, pandas as pd, duckdb, pyarrow as pa, pyarrow.parquet as pq
frame = pd.read_csv("rows.csv")
pq.write_table(pa.table({"q": [1, 2]}), "own.parquet")
print(sorted(inputs), inputs["rows.csv"])
total = duckdb.sql("select sum(q) from 'own.parquet'").fetchall()[0][0]
counted = duckdb.sql("select count(*) from range(1000000)").fetchall()[0][0]
assert json.load(open("数据.json"))["a"] == [1, 2]
result = {"table": frame.groupby("城市", sort=False).n.sum(), "total": total, "counted": counted, "norm": np.linalg.norm([3, 4])}
"""
    inputs = {"rows.csv": tmp_path / "rows.csv", "数据.json": tmp_path / "数据.json"}
    found = run(cage, program, inputs)
    assert found.value == {
        "table": {"columns": ["城市", "n"], "data": [["北京", 4], ["上海", 2]]},
        "total": 3,
        "counted": 1_000_000,
        "norm": 5.0,
    }
    assert found.output == "['rows.csv', '数据.json'] rows.csv\n"
    assert found.tier == cage.tier
    assert 0 < found.seconds < LIMITS.seconds


def test_same_program_gives_the_same_bytes(cage: Cage) -> None:
    program = "result = [list({'北', 'a', 'b', 'c'}), hash('x'), __import__('time').tzname]"
    assert run(cage, program).value == run(cage, program).value


def test_ordinary_programs_have_what_they_need(cage: Cage) -> None:
    program = """
import dataclasses, pickle, concurrent.futures, tempfile, zoneinfo, datetime, os, enum, typing
@dataclasses.dataclass
class Row:
    a: int
assert __name__ == "__main__"
again = pickle.loads(pickle.dumps(Row(3))).a
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    squares = list(pool.map(lambda n: n * n, range(4)))
with tempfile.TemporaryDirectory() as folder:
    open(folder + "/file", "w").write("中文")
    text = open(folder + "/file").read()
os.makedirs("a/b"); os.rename("a/b", "c"); os.rmdir("a")
day = datetime.datetime(2024, 1, 1, tzinfo=zoneinfo.ZoneInfo("Asia/Shanghai")).utcoffset().seconds
def outer():
    return [n for n in range(3) if n in squares]
result = [again, squares, text, sorted(os.listdir(".")), day, outer()]
"""
    assert run(cage, program).value == [3, [0, 1, 4, 9], "中文", ["c"], 28800, [0, 1]]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("x = 1\ny = 1 / 0", "ZeroDivisionError: division by zero (line 2: y = 1 / 0)"),
        ("def f():\n    return {}['键']\nf()", "KeyError: '键' (line 2: return {}['键'])"),
        ("import json\njson.loads('x')", "JSONDecodeError: Expecting value: line 1 column 1 (char 0) (line 2: json.loads('x'))"),
        ("x = (1,", "SyntaxError: '(' was never closed (line 1: x = (1,)"),
        ("eval('1 +')", "SyntaxError: invalid syntax (<string>, line 1) (line 1: eval('1 +'))"),
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this_name' (line 1: import nothing_of_this_name)"),
        ("x = 1", "NameError: the program did not assign `result`"),
        ("result = float('inf')", "ValueError: result is infinite; replace it by a number or None"),
        ("result = object()", "TypeError: result is a object; convert it to text, a number, a list or a table"),
        ("\ud800", "UnicodeEncodeError"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (line 1: raise KeyboardInterrupt)"),
        ("", "NameError: the program did not assign `result`"),
    ],
)  # fmt: skip
def test_error_names_type_message_and_line(cage: Cage, program: str, message: str) -> None:
    with pytest.raises(SandboxError) as caught:
        run(cage, program)
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc/passwd", "../x", "a\0b", "a\nb", "x" * 300, "名" * 100])
def test_input_name_must_be_a_file_name(cage: Cage, name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SandboxError, match="file name"):
        run(cage, "result = 1", {name: tmp_path / "file"})


def test_input_must_be_a_plain_file(cage: Cage, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", tmp_path / "missing", Path("/dev/zero")):
        with pytest.raises(SandboxError, match=r"the input 'rows\.csv' of a program"):
            run(cage, "result = 1", {"rows.csv": path})


def test_private_input_in_a_private_folder_is_read(cage: Cage, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    path = private / "rows with space-中.csv"
    path.write_bytes(b"x" * 3_000_000)
    path.chmod(0o600)
    (tmp_path / "link").symlink_to(path)
    program = "result = [len(open(name).read()) for name in ('a b.csv', 'link')]"
    assert run(cage, program, {"a b.csv": path, "link": tmp_path / "link"}).value == [3_000_000, 3_000_000]
    assert path.stat().st_mode & 0o777 == 0o600


def test_large_program_and_large_result(cage: Cage) -> None:
    program = f"data = {'x' * 2_000_000!r}\nresult = [data] * 5"
    assert run(cage, program).value == ["x" * 2_000_000] * 5


def test_programs_run_side_by_side(cage: Cage) -> None:
    async def several() -> list[ProgramResult]:
        programs = [f"import threading; result = {n}" for n in range(8)]
        return await asyncio.gather(*(run_in(cage, program, {}, LIMITS) for program in programs))

    assert [found.value for found in asyncio.run(several())] == list(range(8))


def test_runs_in_a_thread_of_its_own(cage: Cage) -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(run(cage, "result = 1").value))
    thread.start()
    thread.join(30)
    assert found == [1]


def test_cancelling_kills_the_program(cage: Cage, world: Any) -> None:
    before = world.state()

    async def cancelled() -> None:
        task = asyncio.create_task(run_in(cage, "import time; time.sleep(60)", {}, LIMITS))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    began = time.monotonic()
    asyncio.run(cancelled())
    assert time.monotonic() - began < 10
    assert world.state() == before


def test_many_runs_leave_no_descriptor(cage: Cage, world: Any) -> None:
    before = world.state()
    for program in ("result = 1", "1 / 0", "import os; os._exit(3)") * 4:
        with contextlib.suppress(SandboxError):
            run(cage, program)
    assert world.state() == before


def test_product_killed_means_program_killed(
    cage: Cage, world: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f"""
import asyncio, sys
from tasks.core.sandbox.cage import Cage
from tasks.core.sandbox.runner import run_in
from tasks.core.settings import load
program = "print('running', flush=True)\\nimport time\\nwhile True: time.sleep(0.01)"
asyncio.run(run_in({cage!r}, program, {{}}, load().sandbox))
"""
    temporary = tmp_path / "product"
    temporary.mkdir()
    product = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, env={**os.environ, "TMPDIR": str(temporary)})
    try:
        wait_for(lambda: len(below(product.pid)) >= 1 and confined(below(product.pid)[-1]))
        running = below(product.pid)
    finally:
        product.send_signal(signal.SIGKILL)
        product.wait()
    wait_for(lambda: not any(alive(pid) for pid in running))
    for pid in running:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    for left in temporary.iterdir():
        os.utime(left, (0, 0))
    with monkeypatch.context() as change:  # undone here: the fixture around it sets the same name
        change.setattr(tempfile, "tempdir", str(temporary))
        assert run(cage, "result = 1").value == 1
    assert not list(temporary.iterdir()), "the next run removes what the killed one left"


def below(pid: int) -> list[int]:
    """Descendants of a process, nearest first."""
    with contextlib.suppress(OSError):
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(n) for task in tasks for n in (task / "children").read_text().split()]
        return children + [n for child in children for n in below(child)]
    return []


def confined(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return "Seccomp:\t2" in Path(f"/proc/{pid}/status").read_text()
    return False


def test_clock_starts_when_the_program_does(cage: Cage) -> None:
    # the start alone takes some 30 ms: a deadline below it must still let a quick program end
    assert run(cage, "result = 1", seconds=0.02).value == 1 or pytest.fail("no result")


def test_run_program_uses_the_strongest_tier() -> None:
    isolation = asyncio.run(tiers.probe())
    if isolation.tier == "none":
        with pytest.raises(SandboxError) as caught:
            asyncio.run(run_program("result = 1", {}, LIMITS))
        assert caught.value.hint == isolation.hint
    else:
        found = asyncio.run(run_program("result = 1", {}, LIMITS))
        assert (found.value, found.tier) == (1, isolation.tier)


def test_below_the_last_tier_programs_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tiers, "_found", None)
    monkeypatch.setattr(tiers, "cages", lambda: ())
    started: list[Any] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(a))
    with pytest.raises(SandboxError, match="nothing isolates them here") as caught:
        asyncio.run(run_program(f"open({str(tmp_path / 'x')!r}, 'w')", {}, LIMITS))
    assert "bubblewrap" in caught.value.hint
    assert not started
    assert not (tmp_path / "x").exists()


def test_result_crosses_stage_boundaries_as_json(cage: Cage) -> None:
    found = run(cage, "result = {'a': [1, None, 'x', 0.5, True]}")
    assert ProgramResult.model_validate_json(found.model_dump_json()) == found
    assert json.loads(found.model_dump_json())["value"] == {"a": [1, None, "x", 0.5, True]}


def test_libc_is_there_but_powerless(cage: Cage) -> None:
    program = "import ctypes; result = ctypes.CDLL(None).getpid() > 0"
    assert run(cage, program).value is True
    assert ctypes.CDLL(None).getpid() == os.getpid()


def test_known_gap_names_and_sizes_outside_show_under_landlock_only(cage: Cage, world: Any) -> None:
    program = f"""
import os
try:
    result = os.stat({str(world.secret)!r}).st_size
except OSError as error:
    result = type(error).__name__
"""
    seen = len(world.secret.read_bytes()) if cage.tier == "landlock+seccomp" else "FileNotFoundError"
    assert run(cage, program).value == seen


def test_known_gap_a_program_can_take_its_own_key_but_gains_only_its_own_value(cage: Cage) -> None:
    program = """
import os
for number in range(3, 256):
    try:
        key = os.read(number, 64)
    except OSError:
        continue
    for other in range(3, 256):
        try:
            os.write(other, key + b' {"value": "what it could have assigned"}\\n')
        except OSError:
            pass
    os._exit(0)
"""
    assert run(cage, program).value == "what it could have assigned"
