"""Parse and edit a note's text; an edit leaves all other bytes as they are. Uses no files, no git, no clock."""
