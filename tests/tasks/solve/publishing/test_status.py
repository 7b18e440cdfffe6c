"""How far an answer may be trusted, in one word and one sentence."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from publishing import attempt

from tasks.core.models.answer import Assignment, Attempt, Brief, Candidate, Contract, Question, Submission
from tasks.core.models.catalogue import Catalogue, Profile
from tasks.core.models.evidence import Check, Checked, Replay
from tasks.core.models.review import Audit
from tasks.core.models.source import ArtifactRef
from tasks.solve.publishing.status import judge

EQUAL = Replay(sql="select", expected="d", digest="d", rows=3)
GOOD = "replayed and equal; not audited by validators"


def given(*audits: Audit) -> Assignment:
    return Assignment(
        question=Question(text="?", as_of=date(2024, 1, 1)),
        brief=Brief(text="", tokens=0, shown=()),
        contract=Contract(),
        catalogue=Catalogue(database=ArtifactRef(sha256="0" * 64, name="c.duckdb", size=0), tables=(), files=()),
        profile=Profile(tables=(), joins=()),
        audits=audits,
    )


def said(kind: str, verdict: str, candidate: int | None = 0, fingerprint: str = "F", **more: Any) -> Audit:
    whole = {"kind": kind, "verdict": verdict, "candidate": candidate, "fingerprint": fingerprint, "steps": 3, **more}
    return Audit.model_validate(whole)


def silent(votes: int, samples: int) -> Attempt:
    """One result that so many samples gave, and all others without a query that runs."""
    failed = Candidate(submission=Submission(sql="selec"), error="no such column", votes=samples - votes)
    made = Candidate(submission=Submission(sql="select"), digest="d", votes=votes)
    return attempt(made, failed, style="single", samples=samples)


def tried(votes: int = 1, **changes: Any) -> Attempt:
    return attempt(Candidate(submission=Submission(sql="select"), digest="d", votes=votes), **changes)


@pytest.mark.parametrize(
    ("made", "replay", "status", "reason"),
    [
        (tried(), EQUAL, "not_assessed", GOOD),
        (tried(3, style="single", samples=5), EQUAL, "not_assessed", GOOD),
        (tried(2, style="single", samples=5), EQUAL, "partial", "replayed and equal, but only 2 of 5 samples agree on it"),
        (silent(3, 6), EQUAL, "not_assessed", GOOD),
        (silent(2, 6), EQUAL, "partial", "replayed and equal, but only 2 of 6 samples agree on it, and 4 gave no query that runs"),
        (tried(ended="budget"), EQUAL, "partial", "replayed and equal, but the budget ran out before the solver was done"),
        (tried(ended="turns"), EQUAL, "partial", "replayed and equal, but the solver ran out of turns before it handed in an answer"),
        (tried(ended="model_error"), EQUAL, "partial", "replayed and equal, but the model stopped giving usable replies"),
        (tried(ended="loop"), EQUAL, "partial", "replayed and equal, but the solver went round in circles and was stopped"),
        (
            tried(1, style="single", samples=5, ended="budget"),
            EQUAL.model_copy(update={"truncated": True}),
            "partial",
            "replayed and equal, but the budget ran out before the solver was done; only 1 of 5 samples agree on it; "
            "only the first 3 rows could be kept",
        ),
        (tried(ended="budget"), EQUAL.model_copy(update={"error": "gone"}), "rejected", "gone; the answer is withheld"),
        (attempt(ended="no_query"), None, "failed", "the model gave no query that runs"),
        (attempt(ended="model_error", problems=("no reply",)), None, "failed", "the model stopped giving usable replies (no reply)"),
        (attempt(ended="unreachable", problems=("nothing listens there",)), None, "failed", "the model cannot be reached (nothing listens there)"),
        (tried(ended="unreachable"), EQUAL, "partial", "replayed and equal, but the model cannot be reached"),
        (attempt(ended="submitted"), None, "failed", "the solver handed in nothing that runs"),
        (
            tried(ended="no_query").model_copy(
                update={"chosen": None, "candidates": (Candidate(submission=Submission(sql="x"), error="no column x\nmore"),)}
            ),
            None,
            "failed",
            "the model gave no query that runs (no column x)",
        ),
    ],
)  # fmt: skip
def test_the_status_follows_from_replay_and_attempt(
    made: Attempt, replay: Replay | None, status: str, reason: str
) -> None:
    assert judge(given(), made, Checked(replay=replay), confident_share=0.6) == (status, reason)


PROCESS, FORM = said("candidate", "approved"), said("answer", "approved")
APPROVED = "replayed and equal; validators approved how it was found and its form"
FAILED = Check(name="row limit", outcome="failed", detail="too many rows")


@pytest.mark.parametrize(
    ("audits", "checks", "fingerprint", "status", "reason"),
    [
        ((PROCESS, FORM), (), "F", "approved", APPROVED),
        ((PROCESS,), (), "F", "not_assessed", "replayed and equal; its form was not audited by validators"),
        ((FORM,), (), "F", "not_assessed", "replayed and equal; how it was found was not audited by validators"),
        ((PROCESS, FORM), (), "G", "not_assessed", "replayed and equal; how it was found was not audited by validators"),
        ((PROCESS, said("answer", "approved", 1)), (), "F", "not_assessed", "replayed and equal; its form was not audited by validators"),
        ((said("candidate", "approved", 1), FORM), (), "F", "approved", APPROVED),
        ((said("checkpoint", "approved", None), FORM), (), "F", "not_assessed", "replayed and equal; how it was found was not audited by validators"),
        ((said("candidate", "rejected", issues=("wrong table",), asked=True), FORM), (), "F", "rejected",
         "replayed and equal, but the validator of how it was found rejected it: wrong table"),
        ((said("candidate", "rejected", issues=("no filter on 2024",)), FORM), (), "F", "rejected",
         "replayed and equal, but a check made by code rejected it: no filter on 2024"),
        ((said("candidate", "rejected", issues=("wrong table",)), PROCESS, FORM), (), "F", "approved", APPROVED),
        ((PROCESS, said("candidate", "rejected", asked=True), FORM), (), "F", "rejected",
         "replayed and equal, but the validator of how it was found rejected it: no reason given"),
        ((PROCESS, said("answer", "rejected", issues=("one column too many",))), (), "F", "partial",
         "replayed and equal, but one column too many"),
        ((PROCESS, FORM), (FAILED,), "F", "partial", "replayed and equal, but too many rows"),
        ((said("candidate", "not_assessed", problem="timed out"), FORM), (), "F", "not_assessed",
         "replayed and equal; how it was found was not assessed by validators: timed out"),
        ((said("candidate", "approved", 0, ""), FORM), (), "F", "approved", APPROVED),
        ((said("candidate", "approved", 1, ""), FORM), (), "F", "not_assessed",
         "replayed and equal; how it was found was not audited by validators"),
    ],
)  # fmt: skip
def test_d5_an_approval_holds_for_what_was_approved_and_nothing_else(
    audits: tuple[Audit, ...], checks: tuple[Check, ...], fingerprint: str, status: str, reason: str
) -> None:
    checked = Checked(replay=EQUAL, checks=checks, fingerprint=fingerprint)
    assert judge(given(*audits), tried(), checked, confident_share=0.6) == (status, reason)
