"""Several machines with one vault, one remote and one shared database."""
