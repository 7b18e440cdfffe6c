"""A question becomes an answer: (beside the reading of documents: measure →) profile → describe → (where tables are judged: terms, index →
recall) → relevance → (there: merge → filter) → compress → contract → agent ⇄ (check → process → verify) → publish → deliver (→ workbook).
"""
