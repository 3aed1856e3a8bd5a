"""The PostgreSQL database that the machines of one vault may share: connections to it, and their errors.

What stands in its tables is the business of those that use it. Nothing in it is the only copy of a note.
"""
