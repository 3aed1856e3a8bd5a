"""How skills were used and what people thought of it: rows in a note, counts, and what follows from them.

Imports `reading` and `loading`.
"""
