"""What `compress` is made of: statements of the knowledge chosen by the question, tables that fit, the rest folded."""
