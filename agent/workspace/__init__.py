"""The open vault with its settings, clock, directories and search index; used by all layers above."""
