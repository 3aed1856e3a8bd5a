"""The gate for all that git brings from elsewhere: looked at as a whole before any of it becomes a file.

`git.receiving_sizes` refuses what is too much to be read, `choice` says what may come without a question and
what of an arrival is held back, and `release` writes it after a yes. The record of what is held back, by
which it is neither written nor taken for deleted, is `vault.held_back`.
"""
