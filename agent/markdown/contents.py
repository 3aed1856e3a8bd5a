"""The contents of a note, parsed at once: headings, links, tags, tasks and callouts.

The rules for links, tags and tasks are in the modules of those names; the rules for callouts are here.
"""

import re
from typing import Literal

from agent.dataclass import dataclass
from agent.markdown import blocks, links, tags, tasks
from agent.markdown.blocks import Body, Heading
from agent.markdown.links import Link
from agent.markdown.note import Note
from agent.markdown.tags import Tag
from agent.markdown.tasks import TaskBox

_CALLOUT = re.compile(r"^((?:[ ]{0,3}>[ ]?)+)\[!([^\[\]\n\0]+)\]([-+]?)([^\n]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Callout:
    """The first line of a callout: its type in lower case, its title, its fold mark (`-` closed, `+` open)."""

    type: str
    title: str
    fold: Literal["", "-", "+"]
    line: int


@dataclass(frozen=True, slots=True)
class Contents:
    """The parsed parts of a note; header items come before body items. Lines count from 1 in the file."""

    body: Body
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    tags: tuple[Tag, ...]
    tasks: tuple[TaskBox, ...]
    callouts: tuple[Callout, ...]


def parse_contents(note: Note) -> Contents:
    """The contents of a note; never fails, whatever its bytes."""
    body = blocks.parse_body(note.body, note.body_line)
    found, unlinked = links.find_links(body)
    return Contents(
        body,
        body.headings,
        (links.find_header_links(note.data) if b"[[" in note.data else ()) + found,
        tags.find_header_tags(note.header) + tags.find_tags(body, unlinked),
        tasks.find_tasks(body),
        find_callouts(body),
    )


def find_callouts(body: Body) -> tuple[Callout, ...]:
    """The callouts, nested ones too, in the order of their lines."""
    if "[!" not in body.visible:
        return ()
    folds: dict[str, Literal["", "-", "+"]] = {"-": "-", "+": "+"}
    return tuple(
        Callout(
            found[2].strip().lower(),
            body.text[found.start(4) : found.end(4)].strip(),
            folds.get(found[3], ""),
            body.line_at(found.start()),
        )
        for found in _CALLOUT.finditer(body.visible)
    )
