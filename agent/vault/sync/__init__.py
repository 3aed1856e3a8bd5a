"""Keeps the vault in step with the person's own remote, and says in plain words what stands in the way.

A round fetches, merges aside and pushes. Nothing in here asks a question, overwrites what others have pushed, or
calls a state synced that the remote has not confirmed.
"""
