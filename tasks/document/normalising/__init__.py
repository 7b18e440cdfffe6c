"""What `normalise` is made of: the library first, checked model code after it. `scale` serves `store` too."""
