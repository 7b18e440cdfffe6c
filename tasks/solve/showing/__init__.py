"""How tables, columns and joins are written for a model, wherever it reads of them."""
