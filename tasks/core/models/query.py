"""What a query gave: a preview for reading, and count and digest over all rows."""

from __future__ import annotations

from tasks.core.models.value import Cell, Value


class QueryResult(Value):
    """Rows of one query. Integers keep all digits; decimals that a float cannot hold are strings;
    dates and times are ISO text, lists and structs JSON text, blobs hexadecimal text.
    """

    columns: tuple[str, ...]
    """As DuckDB names them; names may repeat."""
    types: tuple[str, ...]
    """DuckDB's names: `BIGINT`, `DOUBLE`, `VARCHAR`, `DATE`, …"""
    rows: tuple[tuple[Cell, ...], ...]
    """The first rows, at most as many as asked for."""
    row_count: int
    """All rows, also those that `rows` does not show; at most `query.max_rows`."""
    truncated: bool
    """True when there were more than `query.max_rows` rows: the rest was neither counted nor written."""
    digest: str
    """Of all counted rows, in hexadecimal. Row order and column names do not matter, repeated rows do; 1 is 1.0;
    numbers count to 10 significant digits, but never coarser than whole; NULL is not the empty text.
    """
    seconds: float
    """Wall clock of running and reading."""

    @property
    def shown_all(self) -> bool:
        """Whether `rows` holds every row."""
        return not self.truncated and len(self.rows) == self.row_count
