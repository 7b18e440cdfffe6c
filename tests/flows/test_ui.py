"""What a user does in the Prefect UI: fill the form, watch the run end, retry a run that was killed."""

from __future__ import annotations

from pathlib import Path

import pytest
from ui import CHROMIUM, desk, kill
from world import ANSWER, ASKED, QUESTION, STAGES, make_folder, slow_after, solver, wait_for

pytestmark = [
    pytest.mark.service,
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium here: apt-get install chromium"),
]
WATCH_MS = 180_000
CRASH_REPORT_SECONDS = 5
"""The runner reports a crash this late at most; a retry before that is overwritten by the report."""


def test_e3_e5_a_run_from_the_form_and_a_killed_run_and_its_retry(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "shop")
    with desk(tmp_path) as at:
        run = at.submit(folder, QUESTION, tmp_path / "one")
        at.open(run)
        at.page.get_by_text("Completed", exact=True).first.wait_for(
            timeout=WATCH_MS
        )  # the page follows the run by itself
        assert at.ended(run) == "Completed"
        assert (tmp_path / "one" / "answer.csv").read_text("utf-8") == ANSWER
        assert at.world.endpoint.calls == ASKED
        at.open(run)
        at.page.get_by_text(f"shop: {QUESTION}").first.wait_for()
        assert at.artifacts(run) >= {"answer", "evidence", "spend"}
        for key, texts in (("answer", ("category", "cake", "茶")), ("evidence", ("Approved", "context/orders.csv"))):
            at.open_artifact(key)
            for text in texts:
                at.page.get_by_text(text).first.wait_for()

        before = at.world.endpoint.calls
        at.world.endpoint.replies = slow_after(2, 600)  # the contract and the query are answered, the submission hangs
        run = at.submit(folder, f"{QUESTION}!", tmp_path / "two")
        wait_for(lambda: at.world.endpoint.calls == before + 3)
        kill(at.process(run))
        assert at.ended(run) == "Crashed" and not (tmp_path / "two").joinpath("answer.csv").exists()
        at.page.wait_for_timeout(CRASH_REPORT_SECONDS * 1000)

        at.world.endpoint.replies = solver
        at.retry(run)
        wait_for(lambda: at.state(run)["run_count"] == 2)
        assert at.ended(run) == "Completed"
        assert (tmp_path / "two" / "answer.csv").read_text("utf-8") == ANSWER
        assert at.world.endpoint.calls == before + ASKED + 1, "only the call that was cut off is asked again"
        wait_for(lambda: set(at.tasks(run)) == set(STAGES))
        repeated = {name for name, states in at.tasks(run).items() if "Cached" not in states}
        assert repeated == {
            "take_inventory",
            "solve_question",
            "check_candidate",
            "audit_process",
            "verify_answer",
            "publish",
            "deliver",
        }
        assert at.hosts == {at.url.removeprefix("http://")}, "the UI reaches for no other machine"
