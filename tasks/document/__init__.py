"""Prose becomes tables: convert → join → relevance → plan → slices → extract → merge → normalise → store → deliver; `trace` looks back."""
