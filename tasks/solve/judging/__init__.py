"""What `relevance` is made of: tables ranked by the question and by what was recalled, previews of them, prompts that
hold them. `rank` serves `compress` too.
"""
