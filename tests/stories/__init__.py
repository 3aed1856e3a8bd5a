"""Whole paths, as a person would walk them: from the README to a working vault."""
