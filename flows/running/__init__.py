"""What every run needs: request → launch (by a server, if one answers; `spread` over a task runner or by a work `pool`, and `fetched` from there) → session (on its storage, with its record) → spent; `watched` sees files change meanwhile, `observed` tells `log` and `traces`, `roots` what the UI may name; `task` and `tasks` read task
folders, many a batch; `grid` and `trial` are what a benchmark asks, and one question of it.
"""
