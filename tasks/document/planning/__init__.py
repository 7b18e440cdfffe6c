"""What `plan` is made of: prompt, reply, validation, rules for small models. `fields` serves `slices` and `normalise` too."""
