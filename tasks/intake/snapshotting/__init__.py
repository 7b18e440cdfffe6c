"""What `snapshot` is made of: address → connection in a child → types → Parquet files."""
