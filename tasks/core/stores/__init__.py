"""Recall's stores: three protocols, the embedded ones of `search`, and the same on servers. `dialects` serves `snapshot` too."""
