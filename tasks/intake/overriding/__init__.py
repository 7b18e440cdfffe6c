"""What `overrides` is made of: text → tree → schema → notes."""
