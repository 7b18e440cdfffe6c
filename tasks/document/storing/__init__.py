"""What `store` is made of, and `trace`, which looks back."""
