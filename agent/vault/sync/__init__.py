"""Keeps clones of one vault equal through git remotes: fetch, merge aside, take in file by file, push with a lease.

Start reading at `round`. Nothing in here asks a question, moves a branch back, writes marks of a conflict, overwrites
what others have pushed, or calls a state synced that the remote has not confirmed.
"""
