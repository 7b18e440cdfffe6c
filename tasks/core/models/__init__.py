"""The nouns, by file: value · source · catalogue · semantics · answer · run."""
