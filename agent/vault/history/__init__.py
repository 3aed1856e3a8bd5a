"""The vault's git history: reading it, undoing commits, rewriting it. It writes notes only through a transaction."""
