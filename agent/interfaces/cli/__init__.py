"""The command line, one file per command: parses arguments, calls `App` and prints; it contains no product logic."""
