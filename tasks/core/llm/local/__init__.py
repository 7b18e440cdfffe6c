"""The model that tablewright serves itself: its file found or downloaded, a server kept, the server."""
