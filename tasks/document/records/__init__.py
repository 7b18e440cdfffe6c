"""What `plan`, `slices`, `extract`, `merge` and `store` share: how the text names a record (anchors, names) and corrects itself."""
