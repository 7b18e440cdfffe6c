"""What `plan`, `slices`, `extract`, `merge`, `normalise` and `store` share: how the text names a record (anchors, names) and corrects itself."""
