"""What the document and the knowledge say beyond one raw text; without it an ambiguous text is not decided."""

from __future__ import annotations

from typing import Literal

from tasks.core.models.value import Value

ASSUMED = "taken as "
"""In a note, before the unit that was taken for granted."""


class Unread(ValueError):
    """A text that has no one reading; the message says why, for the cell's note."""


class Undecided(Unread):
    """A text in a known notation that could mean several things here: whoever decides it guesses."""


class Context(Value):
    """Conventions of a column; every default refuses rather than guesses."""

    decimal: Literal[".", ","] = "."
    """Decimal mark where a text with one separator could be read both ways (`1.234`)."""
    default_year: int | None = None
    """Year of dates written without one."""
    date_order: Literal["", "DMY", "MDY"] = ""
    """Order of `03/04/2018`; empty = not decided."""
    pivot: int | None = None
    """Two-digit years up to the pivot are 20xx, later ones 19xx; None = two-digit years are not read."""
    edge: Literal["", "start", "end"] = ""
    """Which day a month, quarter or year stands for in a date column; empty = not read."""
    fiscal_start: int | None = None
    """Month in which the fiscal year starts; a fiscal year is named by the calendar year in which it ends."""
    bare_unit: str = ""
    """Unit of numbers written without one, such as `percent` or `万元` from a table's head."""
    dollar: str = "USD"
    """Currency of a bare `$`."""
    fall_is_negative: bool = False
    """True: 下降 3% / `down 3%` reads −3; False: the sign is not decided and such texts are not read."""
    fall_is_positive: bool = False
    """True: the column holds falls themselves (降幅, loss), so that 下降 3% reads 3."""
    span: Literal["", "low", "middle", "high"] = ""
    """Which value a range stands for where the knowledge says so; empty = a range is not read."""
    zero_words: tuple[str, ...] = ()
    """Words that mean 0 in this column, such as 未检出 or `free transfer`."""
    null_words: tuple[str, ...] = ()
    """Further words that mean that the document gives no value."""
    about: str = ""
    """What the column means; a text that denies just that (nothing was recycled) then means 0."""
