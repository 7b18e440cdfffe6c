"""What `relevance` is made of: tables ranked by what was recalled, previews of them, prompts that hold them."""
