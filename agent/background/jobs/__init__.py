"""Jobs at work: what is due runs once, its answer is delivered, and what came of it is written down.

Begin at `jobs` (the client of the pool), then `worker` (one run in its thread) and `recording` (what a run leaves in
the vault). When something is due, and the form of a history, is `schedule`'s.
"""
