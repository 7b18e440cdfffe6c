"""How right each stage of a trial was: `chosen` (documents and tables), `cells` (drawn tables), `traced` (their lines)."""
