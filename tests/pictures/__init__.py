"""The two pictures of the README: a terminal and a note, both of a real run in a real vault."""
