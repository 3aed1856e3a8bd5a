"""The names of the channels by which something is asked for: those of the program itself, and those of messages."""

IN_NOTES = "inbox"
"""The channel of what is asked and answered in a note."""
OF_JOBS = "job"
"""The channel of runs that nobody asked for at this moment."""
OF_PROGRAM = frozenset({"cli", "http", "mcp", "acp", IN_NOTES, OF_JOBS})
"""The channels of the program itself."""
TWO_WAY = frozenset({"telegram", "lark", "mail", "desktop"})
"""The channels through which the person can write back, too; each is a field of `config.ChannelSettings`."""
