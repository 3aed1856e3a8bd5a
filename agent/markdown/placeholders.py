"""Placeholders in templates, which another program fills in when it makes a note: `{{date}}`, `<% tp.file.title %>`."""

import re
from itertools import count

from agent.markdown import note
from agent.markdown.note import Note

_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|<%.*?%>", re.DOTALL)
_LINE = re.compile(
    r"^[ \t]*(?:PLACEHOLDER[ \t]*)+\r?\n".replace("PLACEHOLDER", _PLACEHOLDER.pattern), re.MULTILINE | re.DOTALL
)
"""A line of placeholders and nothing else: the program puts whole lines there, or none."""


def is_template(data: bytes) -> bool:
    """True if the note's header has placeholders, and can be read once they are filled in."""
    parts = note.split(data)
    header = parts.header.decode("utf-8", "replace")
    if not _PLACEHOLDER.search(header):
        return False
    numbers = count()
    filled = _PLACEHOLDER.sub(lambda found: f"x{next(numbers)}", _LINE.sub("", header))
    return Note.parse(parts.opening + filled.encode() + parts.closing).problem is None
