"""What `store` and `trace` are made of."""
