"""Notices what changes in the vault's files and says what it means. Writes nothing; git and index are strangers."""
