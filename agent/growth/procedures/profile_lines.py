"""Lines that a procedure adds to a note about the person: each with its evidence, in a section of the program's own.

Lines are only ever added, at the end of that section; what a person has written, changed or deleted stays so.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from agent.growth.procedures.material import bullets, rests_on_notes, title_of
from agent.growth.procedures.procedure import ProcedureContext
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.vault.change import Append

_MOST = 12
"""The most lines that are added at once."""


def add_lines(context: ProcedureContext, name: str, heading: str, lines: Sequence[str]) -> tuple[Append, ...]:
    """The request that adds the lines below a heading; none without lines."""
    if not lines:
        return ()
    rows = bullets(lines).encode("utf-8", "surrogateescape")
    return (Append(context.path(name), rows, new_profile_note(name), f"## {heading}".encode()),)


def new_lines(context: ProcedureContext, name: str, answer: str) -> tuple[str, ...]:
    """The lines of a model's answer that rest on a note that is there, and that the note does not have yet."""
    there = context.note(name)
    rows = (row.strip() for row in answer.splitlines() if row.lstrip().startswith(("- ", "* ")))
    plain = dict.fromkeys(row[2:].strip() for row in rows)
    return tuple(row for row in plain if row and row not in there and rests_on_notes(context, row))[:_MOST]


def without_known(context: ProcedureContext, name: str, lines: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The lines, given with the link that each rests on, whose link the note does not have yet."""
    there = context.note(name)
    return tuple(line for line, link in lines if link not in there)[:_MOST]


def new_profile_note(name: str) -> bytes:
    """The beginning of a note about the person that is not there yet."""
    stem = PurePosixPath(name).stem
    header: dict[str, Value] = {"title": title_of(name), "type": "profile"}
    header |= {"layer": int(stem[0])} if stem[:2].isdigit() else {}
    return Note.compose(header, f"# {title_of(name)}\n").data
