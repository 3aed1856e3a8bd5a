"""Imports from other programs: each export is made here, by the public description of its form."""
