"""WHAT RUNS. `answer` = inventory → overrides → side by side `sources` (files and live databases → catalogue) and (knowledge and
`video`, then `document`) → `shelf` (both catalogues together) ⇄ `solve` (which may ask for one more document's table, and has its answer looked at by `review`) → deliver.
`document` (whose records `patterns` reads where they are many) and `inspect` run parts of it, `dry` all of it without a model (`foresee` stands there for `patterns`), `batch` and `benchmark` many of it, `doctor` nothing of it, `new` makes its folder, `runs` what was run, `path` what a run waited for, `clean` what of it may go; `deployed` is what Prefect sees,
`cli` what a terminal sees; `running` is what every run needs.
"""
