"""What read_overrides is made of: text → tree → schema → notes."""
