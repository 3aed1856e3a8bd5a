"""Which skills fit a task and what text of them the model is given.

Imports `reading` and `loading`. Reads nothing from disk.
"""
