"""Imports what a person has in other programs: conversations, notes, facts and files.

`formats` is the table of what can be read, one module a format; each turns a `source` into the values of `values`, one
at a time. `plan` says what would become of them, `write` writes them: the only door into the vault. Nothing is taken
out of an archive by the name that it has there.
"""
