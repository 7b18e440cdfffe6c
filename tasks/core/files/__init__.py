"""The artifact store and files of the machine: locks, paths, text of any encoding, page templates."""
