"""What `knowledge` is made of: headings, statements, fields and links read from any layout."""
