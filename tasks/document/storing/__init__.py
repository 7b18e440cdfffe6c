"""What `store` is made of, and `trace`, which looks back; `settle` serves `normalise` too."""
