"""The contents of a note, parsed at once: headings, links, tags and tasks.

The rules for links, tags and tasks are in the modules of those names.
"""

from agent.dataclass import dataclass
from agent.markdown import blocks, links, tags, tasks
from agent.markdown.blocks import Body, Heading
from agent.markdown.links import Link
from agent.markdown.note import Note
from agent.markdown.tasks import TaskBox


@dataclass(frozen=True, slots=True)
class Contents:
    """The parsed parts of a note; header items come before body items. Lines count from 1 in the file."""

    body: Body
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    tags: tuple[str, ...]
    tasks: tuple[TaskBox, ...]


def parse_contents(note: Note) -> Contents:
    """The contents of a note; never fails, whatever its bytes."""
    body = blocks.parse_body(note.body, note.body_line)
    found, unlinked = links.find_links(body)
    return Contents(
        body,
        body.headings,
        (links.find_header_links(note.data) if b"[[" in note.data else ()) + found,
        tags.find_header_tags(note.header) + tags.find_tags(unlinked),
        tasks.find_tasks(body),
    )
