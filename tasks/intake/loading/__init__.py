"""What `catalogue` and `derived` are made of: a reader for each format, types, names, one child that loads."""
