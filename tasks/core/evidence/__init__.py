"""Answer and replay → evidence: outline of the query, checks, lineage, drawn tables → package; steps of an attempt → what validators may rely on."""
