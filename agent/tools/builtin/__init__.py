"""The tools that come with the program, a file for each kind of thing they touch."""
