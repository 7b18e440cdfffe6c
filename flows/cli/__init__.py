"""The terminal's side: one module a command (`document` has `trace` too, `runs` has `resume`), `app` and `main` their frame, `pipe` its streams, `outlook`, `page` and `progress` what they show."""
