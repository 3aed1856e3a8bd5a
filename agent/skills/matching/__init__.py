"""Matches skills with a task, and selects and shortens their text for the model.

Imports `reading` and `loading`. Reads nothing from disk.
"""
