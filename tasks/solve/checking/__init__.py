"""What `check` asks of a candidate beside its replay: what its query computes, held against the question, the contract and the data."""
