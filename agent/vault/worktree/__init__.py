"""The vault's files on disk: which paths are allowed, safe reading and writing, what differs from the last commit.

It makes no commit and takes no lock; that is the business of `write`.
"""
