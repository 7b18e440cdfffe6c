"""Prose becomes tables: convert → join → relevance → plan → slices → extract (or, for many alike records: survey → learn, again and again, → match, the rest extract) → merge → normalise → store (→ deliver, where
`document` runs alone; `answer` delivers in `solve`); `storing/trace` looks back.
"""
