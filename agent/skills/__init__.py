"""Skills: instructions for a kind of work, as Markdown folders that a person can read, found for a task by rules that
explain themselves.

Rooms, from the bottom: `reading` parses a `SKILL.md`; `loading` is the library on disk with its review pins; above it,
and strangers to one another, stand `trust`, `matching`, `history` and `learning`. Nothing in a skill is ever run here,
an unreviewed skill is never used, and no room knows tools, the model's context or the loop.
"""
