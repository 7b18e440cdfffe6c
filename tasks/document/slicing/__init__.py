"""What `slices` is made of: the text with its records, runs of records that fit."""
