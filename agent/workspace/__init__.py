"""The vault with its settings, clock, directories and search index: the values that everything above is given."""
