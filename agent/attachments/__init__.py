"""The text of files that are no notes: PDF, office documents, books, saved pages, tables.

They come from anywhere, so a process of its own parses them, with limits and without files or network. Finding files in
a vault, and whose text it is, is left to others.
"""
