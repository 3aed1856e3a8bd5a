"""The contents of a note, parsed at once: headings, links, tags and tasks.

The rules for links, tags and tasks are in the modules of those names.

The tags of a note, by Obsidian's rules: `#a/b` after a space, letters of any script, not only digits.

`links` removes the links from the text first, `blocks` the hidden text.
"""

import re

from agent.dataclass import dataclass
from agent.markdown import blocks, links, tasks
from agent.markdown import contents as tags
from agent.markdown.blocks import Body, Heading
from agent.markdown.links import Link
from agent.markdown.note import Note
from agent.markdown.tasks import TaskBox
from agent.markdown.yaml_write import Header, Value, is_list

# Characters that end a tag: ASCII punctuation except `-_/`, general and CJK punctuation, spaces; not emoji joiners.
_END = (
    r"\s\0!\"#$%&'()*+,.:;<=>?@\[\\\]^`{|}~\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufffd"
)
# The lookbehind is after the `#`, so that the search can jump from one `#` to the next.
_TAG = re.compile(rf"#(?<![^\s(\[{{\"'“‘（【「『《>]#)([^{_END}]+)")
_WORD = re.compile(rf"[^{_END}]+")


def find_tags(unlinked: str) -> tuple[str, ...]:
    """The tags in a body's visible text without links: without their `#`, as written."""
    if "#" not in unlinked:
        return ()
    return tuple(name for match in _TAG.finditer(unlinked) if (name := _name(match[1])))


def find_header_tags(header: Header) -> tuple[str, ...]:
    """The tags under `tags` (or `tag`): a list, or one text with commas or spaces; a leading `#` is removed."""
    names: dict[str, str] = {}
    for word in [*_words(header.get("tags")), *_words(header.get("tag"))]:
        whole = _WORD.fullmatch(word.removeprefix("#"))
        if whole and (name := _name(whole[0])):
            names.setdefault(name.casefold(), name)
    return tuple(names.values())


def parents(name: str) -> tuple[str, ...]:
    """A nested tag and all its parents: `a/b/c`, `a/b`, `a`."""
    parts = name.split("/")
    return tuple("/".join(parts[:count]) for count in range(len(parts), 0, -1))


def _words(value: Value) -> list[str]:
    if isinstance(value, str):
        return value.replace(",", " ").split()
    if is_list(value):
        return [word for item in value if isinstance(item, str) for word in item.replace(",", " ").split()]
    return []


def _name(raw: str) -> str:
    """The tag, or empty when it has only digits."""
    name = raw.strip("/")
    return "" if name.isdigit() else name


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
