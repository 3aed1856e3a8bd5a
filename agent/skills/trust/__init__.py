"""How a skill comes to be trusted: the note that asks, its record, and the owner's own edits.

Imports `reading` and `loading`.
"""
