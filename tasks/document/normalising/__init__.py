"""What `normalise` is made of: the library first, checked model code after it. `reading` serves `store` too. `told` is called by the flow."""
