"""Detect changes in the vault's files and turn them into events. Writes no files; imports neither git nor index."""
