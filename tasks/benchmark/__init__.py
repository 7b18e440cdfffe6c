"""Suites with gold answers: how right a run was. `score` is a plain function, no stage yet; `compare` and `cli/score` call it."""
