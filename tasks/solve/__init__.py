"""profile · compress (rank, excerpt, layout) · contract · agent (single | dialogue, styles, tools) · publish (replay, report)."""
