"""The daemon, turn by turn in this process, and as a process of its own."""
