"""Generated program + input files → its `result`, with everything outside out of reach.

Reading order: `runner` (the door) → `tiers` (what isolates here, found by trying) → `watch` (one child, followed to its
end) → `cage` (what it can see; with `landlock` and `wipe` where there are no namespaces) and `filter` (which system calls
it has) → `inside/` (what runs within) → `record` (what came back). Nothing else runs code that a model wrote; children of
ours go through `core/process`.
"""
