"""What `index` is made of: the distinct values of text columns."""
