"""A question becomes an answer: profile → describe → (large folders: terms, index → recall → relevance → merge → filter) → compress
→ contract → agent → publish → deliver.
"""
