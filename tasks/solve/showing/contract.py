"""contract → its lines, wherever a model reads of it."""

from __future__ import annotations

from tasks.core.models.answer import Contract


def contract_text(contract: Contract) -> str:
    """The contract as lines for a prompt; what it leaves open is not mentioned."""
    columns = [f"{c.name}" + (f" ({c.meaning})" if c.meaning else "") for c in contract.columns]
    sources = [f"{c.name} from {c.source}" for c in contract.columns if c.source]
    filters = [
        f.text + (f" [{f.unit}]" if f.unit else "") + (f" on {f.source}" if f.source else "") for f in contract.filters
    ]
    parts = {
        f"columns ({len(columns)})": ", ".join(columns),
        "sources": ", ".join(sources),
        "one row is": contract.grain,
        "filters": "; ".join(filters),
        "nulls": contract.nulls,
        "duplicates": "" if contract.duplicates == "unknown" else contract.duplicates,
        "order": contract.order,
        "limit": str(contract.limit or ""),
        "ties": "" if contract.ties == "unknown" else contract.ties,
    }
    return "\n".join(f"{name}: {value}" for name, value in parts.items() if value)
