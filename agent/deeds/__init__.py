"""What a person or a program can do: one typed function a deed, with one result value that every door shows.

A deed loads, chooses, writes and commits; command line, HTTP and pages only ask for it and show what it returns. A
deed prints nothing and asks nobody.
"""
