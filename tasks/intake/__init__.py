"""What lies in the folder: inventory → side by side knowledge, video (else hear, watch), and overrides → snapshot (live databases) →
catalogue → (with the documents' tables) derived.
"""
