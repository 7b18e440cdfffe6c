"""What `publish` is made of: replay, casts, cells followed to documents, status, report; `report/summary` serves `deliver`."""
