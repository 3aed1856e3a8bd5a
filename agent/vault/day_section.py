"""The one part of a person's own daily note in which the program writes: between two marks, and nothing outside them.

The marks are comments that Obsidian does not show. What a person writes between them stays, and so does all else. If
they have taken a mark away, what stood there is theirs, and a new part begins at the note's end.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from agent.markdown.appending import add_to_section, append_block
from agent.vault.change import Append, Request, Stamp
from agent.vault.folders import AgentFolder

_BEGIN, _END = b"%% vault-agent: day %%", b"%% vault-agent: end of day %%"
_PART = re.compile(
    rb"(?P<above>.*^%% vault-agent: day %%[ \t]*\r?\n)(?P<inside>.*?)(?P<below>^%% vault-agent: end of day %%.*)",
    re.DOTALL | re.MULTILINE,
)


def marked(requests: Iterable[Request], home: AgentFolder, stamp: Stamp) -> tuple[Request, ...]:
    """The requests of a transaction: what the program itself adds to a section of the person's daily note goes between
    the marks, wherever it comes from. What a tool call asks for goes where that says."""
    is_own = home.days is not None and not stamp.call and not stamp.tool.startswith("vault_")
    return tuple(
        replace(each, marked=True)
        if is_own and isinstance(each, Append) and each.section and home.days.day_of(each.path)  # type: ignore[union-attr]
        else each
        for each in requests
    )


def add_between_marks(data: bytes, heading: bytes, text: bytes) -> bytes:
    """The note with `text` at the end of the section below `heading` between the marks; these come to the end of the
    note if they are missing."""
    note = with_marks(data)
    part = _PART.match(note)
    assert part is not None  # `with_marks` has put them there
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    if part["inside"].strip():
        added = add_to_section(part["inside"], heading, text)
    else:
        added = newline + add_to_section(newline, heading, text).lstrip()
    return part["above"] + added + (b"" if added.endswith(b"\n") else newline) + part["below"]


def with_marks(data: bytes) -> bytes:
    """The note with both marks; unchanged if it has them."""
    return data if _PART.match(data) else append_block(data, _BEGIN + b"\n\n" + _END + b"\n")


def before_end(text: str) -> tuple[str, str]:
    """The text up to the last mark, and the rest; without marks all of it, and nothing."""
    part = _PART.match(text.encode("utf-8", "surrogateescape"))
    below = part["below"].decode("utf-8", "surrogateescape") if part else ""
    return text[: len(text) - len(below)], below


def is_mark(line: str) -> bool:
    """True for a line with one of the marks."""
    return line.rstrip().encode("utf-8", "surrogateescape") in {_BEGIN, _END}
