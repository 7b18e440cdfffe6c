"""Evidence + candidate → what a validator is shown, what it may say, and what code makes of it."""
