"""Runs of one vault, from wherever they are asked for; must not know the command line, HTTP or any other interface."""
