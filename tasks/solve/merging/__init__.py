"""What `merge` and `filter` are made of: tables completed with the keys that join them."""
