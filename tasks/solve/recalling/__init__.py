"""What `recall` is made of: one search for each kind of thing, and the look through columns that are not indexed."""
