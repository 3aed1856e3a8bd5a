"""The command line: one file per command. It parses, calls and prints; it decides nothing."""
