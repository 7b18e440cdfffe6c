"""Prose becomes tables: convert → join → relevance → plan → slices → extract → merge → normalise → store (→ deliver, where
`document` runs alone; `answer` delivers in `solve`); `storing/trace` looks back.
"""
