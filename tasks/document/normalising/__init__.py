"""What `normalise` is made of: the library first, checked model code after it."""
