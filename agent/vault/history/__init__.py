"""The vault's git history: reading it, undoing commits, rewriting it. Notes are written only through transactions."""
