"""What `convert` is made of, by format."""
