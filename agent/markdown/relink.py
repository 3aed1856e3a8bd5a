"""Writes the links to moved notes again, in one note: wikilinks, embeds and Markdown links; nothing else changes."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias
from urllib.parse import quote, unquote

_WIKI = re.compile(r"(!?\[\[)([^\[\]|#\n\\]+)((?:#[^\[\]|\n]*)?(?:\\?\|[^\[\]\n]*)?\]\])")
_MARKDOWN = re.compile(r"(\]\()(?:([^\s()<>#:]+\.md)|<([^<>#:\n]+\.md)>)((?:#[^\s()]*)?\))")

NewTarget: TypeAlias = Callable[[str, bool], str | None]
"""Function from a link's target as written (decoded), and whether it is a Markdown link, to the new one; None to leave
it."""


def relink(data: bytes, target_of: NewTarget) -> bytes:
    """The note with its links to other notes written again, as `target_of` says. A link in a code block is rewritten,
    too: its text then names the note that it means."""
    if b"[[" not in data and b"](" not in data:
        return data
    text = data.decode("utf-8", "surrogateescape")

    def wiki(found: re.Match[str]) -> str:
        new = target_of(found[2].strip(), False)
        return found[0] if new is None else found[1] + new + found[3]

    def markdown(found: re.Match[str]) -> str:
        new = target_of(unquote(found[2] or found[3]), True)
        if new is None:
            return found[0]
        return f"{found[1]}{quote(new) if found[2] else f'<{new}>'}{found[4]}"

    return _MARKDOWN.sub(markdown, _WIKI.sub(wiki, text)).encode("utf-8", "surrogateescape")


def relinked(data: bytes, moves: Mapping[str, str], taken: Collection[str] = ()) -> bytes:
    """The note with each link to an old path (`moves`: old to new, in the vault) leading to the new one.

    A link by name alone stays one, and is left as it is if its name is `taken` by another note.
    """
    if not moves:
        return data
    by_path = {_bare(old): _bare(new) for old, new in moves.items()}
    names = {_name(old): _name(new) for old, new in moves.items() if _name(old) != _name(new)}
    by_name = {old: new for old, new in names.items() if old not in taken}

    def target(link: str, is_markdown: bool) -> str | None:
        new = by_path.get(_bare(link), by_name.get(_bare(link)) if "/" not in link else None)
        if new is None:
            return None
        if not is_markdown and "/" not in link and "/" in new:
            new = _name(new)
        return new + (".md" if is_markdown or link.endswith(".md") else "")

    return relink(data, target)


def _bare(path: str) -> str:
    return path.removesuffix(".md")


def _name(path: str) -> str:
    return _bare(path).rpartition("/")[2]
