"""evidence → `report.html` and the summary in Prefect."""
