"""What `describe` is made of: names → roles and told → metrics → notes → tables."""
