"""Counts computed from events. Nobody calls it to do anything."""
