"""What `video`, `watch` and `hear` are made of: prepared texts of any layout, slides by change, rows of a picture."""
