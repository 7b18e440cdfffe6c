"""What every run needs: request → launch (by a server, if one answers) → session (on its storage) → spent; `task` and `tasks` read task
folders, many a batch.
"""
