"""The uses of skills and opinions about them: rows in a note, counts, and their consequences.

Imports `reading` and `loading`, and what a row says of a trial from `variants`.
"""
