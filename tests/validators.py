"""Scripted validators that approve: what a request for an audit is answered with."""

from __future__ import annotations

import json
import re
from typing import Any

_ID = re.compile(r"\[(step_\d+:call_\w+)\]")


def schema(body: dict[str, Any]) -> str:
    """Name of the schema that a request asks its reply to follow; empty for none."""
    return str(body.get("response_format", {}).get("json_schema", {}).get("name", ""))


def approved(body: dict[str, Any]) -> str:
    """The reply of a validator that approves, citing the first evidence it was shown; empty for other requests."""
    name = schema(body)
    if name == "FormReply":
        return json.dumps({"issues": [], "valid": True})
    if name != "ProcessReply":
        return ""
    shown = _ID.search(json.dumps(body["messages"]))
    claim = {"text": "the rows are those asked for", "evidence": [shown[1] if shown else "knowledge:1"]}
    return json.dumps(
        {
            "semantic_ledger": {"intent_summary": "as asked", "verified_claims": [claim]},
            "issues": [],
            "required_next_actions": [],
            "valid": True,
        }
    )
