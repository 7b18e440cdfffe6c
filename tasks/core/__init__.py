"""What stages share, free of Prefect and of any workflow."""
