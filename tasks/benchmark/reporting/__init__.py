"""What a run found, for readers: `plots` (SVG, and the same as PNG), `markdown`, `page` (HTML) and `section` (in another file)."""
