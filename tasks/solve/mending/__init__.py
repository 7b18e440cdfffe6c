"""What `single` does to a query that failed: names, dialect, scopes and literals put right by code."""
