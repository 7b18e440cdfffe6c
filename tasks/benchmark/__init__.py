"""Suites with gold answers: how right a run was."""
