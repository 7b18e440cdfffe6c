"""WHAT RUNS. `answer` = intake → `document` → `solve` → deliver; `document` and `inspect` run parts of it, `batch` and
`compare` many; `deployed` is what Prefect sees of them, `cli` what a terminal sees; `running` is what every run needs.
"""
