"""THE STAGES, by workflow: intake → document → solve; benchmark measures them; `core` is what they share, `stage` makes a function a stage, `artifacts` shows in Prefect what came of it."""
