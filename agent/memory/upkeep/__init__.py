"""The daily work on what is remembered: expiry, merging, day summaries, MEMORY.md. Others decide when it runs."""
