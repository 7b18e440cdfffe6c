"""Suites with gold answers: how right a run was. `suite` (folder and manifest) → trials, which `flows/benchmark.py` runs →
`measure` (gold is read here alone) → `results` (Parquet) → `figures` (means, σ, sign test) → `report`.
`score` is the rule by which an answer is scored, `scoring` those of the other stages, `accepted` the run that later ones
are held against.
"""
