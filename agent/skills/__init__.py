"""Skills: instructions for a kind of work, as Markdown folders that a person can read, selected for a task by rules
that explain their result.

Subpackages, from the bottom: `reading` parses a `SKILL.md`; `loading` is the library on disk with its review pins;
above it `variants`, `trust`, `matching`, `history` and `learning`. Nothing in a skill is ever run
here, an unreviewed skill is never used, and no subpackage imports tools, the model's context or the loop.
"""
