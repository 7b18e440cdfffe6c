"""What `index` is made of: the distinct values of text columns, and vectors of what is said of columns and metrics. `distinct` serves `recall` too."""
