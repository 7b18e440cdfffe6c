"""What the stages of learned patterns are made of: own lines → matches → records; lessons; judging; packing; cost."""
