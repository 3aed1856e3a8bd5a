"""The daily upkeep of memory: expiry, merging, day summaries, MEMORY.md. Scheduling is left to the caller."""
