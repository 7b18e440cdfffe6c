"""What `describe` is made of: names → aliases → roles → notes → metrics → rows. `rows` serves `recall` too."""
