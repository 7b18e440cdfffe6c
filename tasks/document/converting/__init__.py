"""What `convert` is made of, by format. `choose` is called by the flow before it."""
