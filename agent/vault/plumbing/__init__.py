"""git at its lowest level: one neutralised runner, objects, locks, commits. What is written, and why, is not known."""
