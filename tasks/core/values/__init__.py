"""Raw texts of documents → values of a column's type and unit."""
