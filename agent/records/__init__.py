"""What this machine must remember from one process to the next: one SQLite file with typed tables, and one door to it.

It has no history for people (that is a note), and nothing that another floor could derive. `README.md` lists what each
table holds, and what is lost with it. This package knows no table: whoever keeps something names it.
"""
