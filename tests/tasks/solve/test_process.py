"""The process validator: when it looks, what it reads, what it may say, and what becomes of that (parity rows D5 to D14)."""

from __future__ import annotations

from pathlib import Path

import pytest
from audited import SQL, Validators, attempt, reply, steps

from tasks import stage
from tasks.core.files.store import Store
from tasks.core.models.evidence import Check

LOOKED = ("query", {"sql": "SELECT DISTINCT region FROM customers"}, "region\n华北\n华东\nNULL\n(3 rows)")
MORE = ("describe", {"tables": ["orders"]}, "orders (5 rows)\n- amount DOUBLE")
FAILED = Check(name="columns", outcome="failed", detail="the contract expects 2 columns, the answer has 1")


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "RETRY_SECONDS", (0.0, 0.0))


def test_d8_a_pass_that_cites_evidence_is_an_approval_of_this_fingerprint(store: Store, tmp_path: Path) -> None:
    claims = [{"text": "华北 is a region", "evidence": ["step_1:call_1"]}]
    with Validators(store, tmp_path, [reply(True, verified_claims=claims)]) as both:
        audit = both.process(attempt(steps(LOOKED), SQL))
    assert (audit.verdict, audit.asked, audit.fingerprint, audit.candidate) == ("approved", True, "f1", 0)
    assert audit.ledger.verified_claims[0].evidence == ("step_1:call_1",)
