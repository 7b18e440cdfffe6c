"""Generated program + input files → its `result`, with everything outside out of reach.

Reading order: `runner` (the door) → `tiers` (what isolates here, found by trying) → `watch` (one child, followed to its
end) → `cage` (what a child can see) and `filter` (which system calls it has) → `inside/` (runs within) → `record` (what
came back). Only this package runs code that a model wrote; children of ours go through `core/process`.
"""
