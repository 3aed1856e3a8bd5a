"""The skills of one vault on disk: folders listed and hashed, pins of reviewed skills, the library, installing.

Imports `reading`. Never runs a file of a skill and never follows a link.
"""
