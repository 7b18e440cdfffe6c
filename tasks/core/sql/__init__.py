"""The one door to DuckDB: build → engine (child, guard) → cells; `columns`, `forms` (numerals, days) and `joins` (chains) measure."""
