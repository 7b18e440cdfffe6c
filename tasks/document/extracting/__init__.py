"""What `extract` is made of: replies read entry by entry, each value found in its line and cut from it."""
