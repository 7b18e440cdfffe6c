"""WHAT RUNS. `answer` = inventory, knowledge, overrides → side by side `sources` (files and live databases → catalogue), `video`, and
`document` → `shelf` (both catalogues together) → `solve` → deliver. `document` and `inspect` run parts of it, `batch` and `compare` many
of it, `doctor` nothing of it; `deployed` is what Prefect sees, `cli` what a terminal sees; `running` is what every run needs.
"""
