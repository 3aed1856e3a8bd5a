"""The open vault with its settings, clock, directories, search index and graph of links; used by all layers above."""
