"""The catalogues of the case files, each built once."""

from __future__ import annotations

from intake_cases import built_cases

__all__ = ["built_cases"]
