"""The placeholders of a template, which are filled in when a note is made of it: `{{date}}`, `<% tp.file.title %>`.

A header with them cannot be read, which is no fault of it.
"""

import re
from itertools import count

from agent.markdown import note
from agent.markdown.note import Note

_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|<%.*?%>", re.DOTALL)
_LINE = re.compile(
    r"^[ \t]*(?:PLACEHOLDER[ \t]*)+\r?\n".replace("PLACEHOLDER", _PLACEHOLDER.pattern), re.MULTILINE | re.DOTALL
)
"""A line of placeholders and nothing else: the program puts whole lines there, or none."""


def has_placeholders(data: bytes) -> bool:
    """True if the note's header has placeholders, and can be read once they are filled in."""
    parts = note.split(data)
    header = parts.header.decode("utf-8", "replace")
    if not _PLACEHOLDER.search(header):
        return False
    numbers = count()
    filled = _PLACEHOLDER.sub(lambda found: f"x{next(numbers)}", _LINE.sub("", header))
    return Note.parse(parts.opening + filled.encode() + parts.closing).problem is None
