"""A `SKILL.md` as a value: its header, triggers and chain, and how text is compared.

Pure: bytes in, a `Skill` and its problems out. Where skills lie on disk is `loading`'s.
"""
