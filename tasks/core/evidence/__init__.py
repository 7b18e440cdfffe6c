"""Answer and replay → evidence: outline of the query, checks, lineage, drawn tables → package. It serves `publish`."""
