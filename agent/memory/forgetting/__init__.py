"""Removes memories from the notes and from the history, and prevents their return."""
