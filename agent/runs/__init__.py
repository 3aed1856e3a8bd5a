"""Runs of one vault, from wherever they are asked for. Knows no interface, and nothing of what happens by itself."""
