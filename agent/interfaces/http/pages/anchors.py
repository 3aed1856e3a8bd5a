"""Places in a note that links lead to: its headings, and its blocks with an id (`^id`), as Obsidian names them.

The ids on the page have a beginning of their own, so that no text of a note takes the name of a part of the page.
"""

import re

from markdown_it.token import Token

_BLOCK = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]{1,60})\s*$")
_SIGNS = re.compile(r"[^\w\s-]")
_LONGEST = 120


def fragment(named: str) -> str:
    """The fragment of an address for what a link names behind its `#`: `A heading`, `Chapter#Part` or `^block`; empty
    for nothing."""
    last = named.rpartition("#")[2].strip()
    if last.startswith("^"):
        return f"b-{last[1:].casefold()}"
    return f"h-{_slug(last)}" if last else ""


def mark_place(tokens: list[Token], number: int, known: set[str]) -> None:
    """Give the block whose text is the token at `number` the id that links to it lead to, once a page: `known` are
    those that are taken. The mark `^id` is not shown."""
    children, block = tokens[number].children or [], tokens[number - 1]
    if block.type == "heading_open":
        _take(
            block, fragment("".join(each.content for each in children if each.type in ("text", "code_inline"))), known
        )
    last = children[-1] if children else None
    found = _BLOCK.search(last.content) if last is not None and last.type == "text" else None
    if last is not None and found:
        last.content = last.content[: found.start()]
        is_hidden = block.hidden and number > 1
        _take(tokens[number - 2] if is_hidden else block, fragment(f"^{found[1]}"), known)


def _take(block: Token, id: str, known: set[str]) -> None:
    if id and id not in known and block.nesting == 1:
        known.add(id)
        block.attrSet("id", id)


def _slug(text: str) -> str:
    return "-".join(_SIGNS.sub(" ", text.casefold()).split())[:_LONGEST]
