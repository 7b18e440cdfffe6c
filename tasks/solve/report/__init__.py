"""Evidence for readers: a page that stands alone, and a summary for Prefect."""
