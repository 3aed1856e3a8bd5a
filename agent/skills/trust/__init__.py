"""Trust in skills: the review note, its record, and the owner's own edits.

Imports `reading` and `loading`.
"""
