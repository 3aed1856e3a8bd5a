"""The skills of a vault on disk: file listings and hashes, pins of reviewed skills, the library, installation.

Imports `reading`. Never runs a file of a skill and never follows a link.
"""
