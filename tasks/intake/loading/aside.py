"""Lines that cannot be read → `<table>__set_aside` (line, text, reason), so that none is lost."""

from __future__ import annotations

from tasks.core.sql.build import Builder

_BATCH = 5000


class Aside:
    """The set-aside table of one table; made when the first line comes."""

    def __init__(self, builder: Builder, stored: str) -> None:
        self._builder = builder
        self._table = f"{stored}__set_aside"
        self._waiting: list[tuple[int, str, str]] = []
        self.count = 0

    def add(self, line: int, text: str, reason: str) -> None:
        """Keep a line (1-based number, its text) and why it was not read."""
        self._waiting.append((line, text, reason))
        self.count += 1
        if len(self._waiting) >= _BATCH:
            self._flush()

    def close(self) -> int:
        """Write what waits. Returns how many lines were set aside."""
        self._flush()
        return self.count

    def _flush(self) -> None:
        if not self._waiting:
            return
        import pyarrow as pa

        if self.count == len(self._waiting):
            self._builder.create(self._table, [("line", "BIGINT"), ("text", "VARCHAR"), ("reason", "VARCHAR")])
        lines, texts, reasons = zip(*self._waiting, strict=True)
        texts = tuple(text.encode("utf-8", "replace").decode() for text in texts)
        types = (pa.int64(), pa.string(), pa.string())
        arrays = [pa.array(column, kind) for column, kind in zip((lines, texts, reasons), types, strict=True)]
        self._builder.insert(self._table, pa.table(arrays, names=["line", "text", "reason"]))
        self._waiting.clear()
