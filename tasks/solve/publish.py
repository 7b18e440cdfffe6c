"""attempt + its checked candidate + what validators said → answer with its evidence and report."""

from __future__ import annotations

import json
from typing import Any

from tasks.core.evidence.package import package
from tasks.core.files import store as stores
from tasks.core.llm import door
from tasks.core.models.answer import Answer, Assignment, Attempt
from tasks.core.models.evidence import Checked, Evidence
from tasks.core.sections import AgentSettings
from tasks.solve.publishing.report.page import render
from tasks.solve.publishing.status import judge
from tasks.stage import stage


@stage(
    roles=("contract", "agent", "process", "verify"),
    prompts=("../publishing/report/page.html", "../publishing/report/page.css"),
)
async def publish(given: Assignment, attempt: Attempt, checked: Checked, agent: AgentSettings) -> Answer:
    """Judge the checked candidate by what validators said of it, and keep answer, evidence and report as artifacts."""
    verdict = judge(given, attempt, checked, agent.confident_share)
    evidence = package(given, attempt, checked, verdict, _models(given))
    keep = stores.current().put
    return Answer(
        question=given.question,
        status=evidence.status,
        reason=evidence.reason,
        table=checked.table,
        evidence=keep(to_json(evidence), "evidence.json"),
        report=keep(render(evidence, checked.table).encode(), "report.html"),
    )


def to_json(evidence: Evidence) -> bytes:
    """The file's bytes: UTF-8, indented, letters of all scripts as they are."""
    return (json.dumps(evidence.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n").encode()


def _models(given: Assignment) -> dict[str, dict[str, Any]]:
    asked = {"candidate": "process", "checkpoint": "process", "answer": "verify"}
    roles = ["contract"] * bool(given.contract.usage.tokens_in) + ["agent"]
    roles += dict.fromkeys(asked[audit.kind] for audit in given.audits if audit.asked)
    return {role: door.current().identity(role) for role in roles}
