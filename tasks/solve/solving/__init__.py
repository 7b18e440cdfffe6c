"""What `agent` is made of: styles of work, tools, samples and their vote. `program` serves `publish` too."""
