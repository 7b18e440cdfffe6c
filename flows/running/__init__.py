"""What every run needs: request → session (server, storage, launch), its tasks and what it spent."""
