"""The tables of measured values in README.md beside this folder, and what measures each of their rows.

`row` is one value, `catalogue` lists all of them, `parts` are the measurements that give them, and `page` reads and
writes the tables.
"""
