"""What `compress` is made of: tables ranked by the question, statements of the knowledge chosen by it. `rank` serves `relevance` too."""
