"""THE STAGES, by workflow, and `core`, what they share."""
