"""Writes new entries to the vault: composes them, compares them with existing entries, saves them."""
