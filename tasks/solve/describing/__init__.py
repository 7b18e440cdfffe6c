"""What describe_catalogue is made of: names → roles and told → metrics → notes → tables."""
