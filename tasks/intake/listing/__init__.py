"""What `inventory` is made of: a file's kind by name and content. `kinds` serves `video` too."""
