"""What `profile` is made of: names that mean the same, columns that join. `naming` serves `describe` too, `late` the flow: tables that
were not measured in time, `ranges` `inspect`."""
