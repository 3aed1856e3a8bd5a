"""The vault's files on disk: allowed paths, safe reading and writing, differences from the last commit.

It makes no commit and takes no lock; `write` does.
"""
