"""New skills from what runs did: workflows that recur, suggestions, and offers that the person decides.

Imports `reading` and `loading`. Writes no skill without the person's yes.
"""
