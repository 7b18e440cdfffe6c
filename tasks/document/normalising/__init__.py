"""What `normalise` is made of: the library first, checked model code after it. `reading` serves `store` too. `guidance` is called by the flow."""
