"""What `slices` and `extract` are made of."""
