"""context and video → the sections of the brief beside its tables: metrics, and what a video says."""

from __future__ import annotations

from tasks.core.llm.tokens import count
from tasks.core.models.metadata import MetricContext
from tasks.core.search.passages import passages
from tasks.solve.showing.layout import one_line

_LINE_CHARS = 600
VIDEO = (
    "From the task's videos (they point to fields, operators and thresholds; "
    "a number that is only spoken is no source of data):"
)
_STEP = 0.8


def metric_lines(metrics: tuple[MetricContext, ...]) -> list[str]:
    """One line each: formula, unit, grain, conditions, columns."""
    return [f"- {one_line(_metric(metric), _LINE_CHARS)}" for metric in metrics]


def video_section(question: str, video: str, tokens: int) -> str:
    """What of the video's text concerns the question, in at most so many tokens; empty without a video."""
    chars = tokens * 4
    while video.strip() and chars > 40:
        text = f"{VIDEO}\n{passages(question, video.strip(), chars)}"
        if count(text) <= tokens:
            return text
        chars = int(chars * _STEP)
    return ""


def _metric(metric: MetricContext) -> str:
    named = metric.name + (f" (also called {', '.join(metric.aliases)})" if metric.aliases else "")
    head = f"{named} = {metric.formula}" if metric.formula else named
    head += f" [{metric.unit}]" if metric.unit else ""
    parts = {
        "": metric.description,
        "grain: ": metric.grain,
        "only where ": " and ".join(metric.filters),
        "from ": ", ".join(metric.columns),
    }
    return "; ".join([head, *(name + text for name, text in parts.items() if text)])
