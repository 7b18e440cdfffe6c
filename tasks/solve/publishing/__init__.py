"""What `publish` is made of: replay, cells followed to documents, status, report."""
