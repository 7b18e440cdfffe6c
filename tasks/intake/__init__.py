"""What lies in the folder: inventory → knowledge, overrides, video (watch, hear), snapshot (live databases) → catalogue → (with the
documents' tables) derived.
"""
