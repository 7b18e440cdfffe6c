"""The nouns, by file: value · source · catalogue · semantics · metadata · video · document · context · query · answer · evidence · run · score."""
