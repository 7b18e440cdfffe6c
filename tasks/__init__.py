"""THE STAGES, by workflow: intake → document → solve; benchmark measures them; `core` is what they share."""
