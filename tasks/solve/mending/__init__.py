"""A model's query read and mended by code: for the style `single` of `agent`, and for the look at casts of `publish`."""
