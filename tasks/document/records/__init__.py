"""How the text names a record: anchors and names."""
