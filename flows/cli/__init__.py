"""The terminal's side: one module a command, `app` and `main` their frame."""
