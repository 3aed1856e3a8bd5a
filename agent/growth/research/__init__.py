"""Research: looks something up in the vault, in folders and on the web, and writes a note with numbered sources; begin
at `research`.

The program searches and reads; a model only plans, reads what it is given, and writes, without any tool: so nothing
that a stranger has written can do more than stand in the note, marked as a stranger's.
"""
