"""A `SKILL.md` as a value: its header, triggers and chain, and the normalization of text.

Pure: bytes in, a `Skill` and its problems out. File access is left to `loading`.
"""
