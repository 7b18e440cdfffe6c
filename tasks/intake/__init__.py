"""What lies in the folder: inventory → knowledge, catalogue → (with the documents' tables) derived."""
