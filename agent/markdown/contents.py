"""Everything that a note says, read at once: for the index, for what changed, for whoever shows a note.

Only puts the readers together; each of them says in its own module what counts as a link, a tag, a task.
"""

from dataclasses import dataclass

from agent.markdown import blocks, callouts, links, tags, tasks
from agent.markdown.blocks import Body, Heading
from agent.markdown.callouts import Callout
from agent.markdown.links import Link
from agent.markdown.note import Note
from agent.markdown.tags import Tag
from agent.markdown.tasks import Task


@dataclass(frozen=True, slots=True)
class Contents:
    """A note's parts; those of the header come before those of the body. Lines count from 1 in the file."""

    body: Body
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    tags: tuple[Tag, ...]
    tasks: tuple[Task, ...]
    callouts: tuple[Callout, ...]


def parse_contents(note: Note) -> Contents:
    """What the note holds; never fails, whatever its bytes."""
    body = blocks.parse_body(note.body, note.body_line)
    found, unlinked = links.find_links(body)
    return Contents(
        body,
        body.headings,
        (links.find_header_links(note.data) if b"[[" in note.data else ()) + found,
        tags.find_header_tags(note.header) + tags.find_tags(body, unlinked),
        tasks.find_tasks(body),
        callouts.find_callouts(body),
    )
