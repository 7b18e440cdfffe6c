"""What `describe` is made of: names → told → roles → notes → metrics → rows. `rows` serves `recall` too."""
