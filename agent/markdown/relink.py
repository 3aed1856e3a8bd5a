"""Writes the links to moved notes again, in one note: wikilinks, embeds and Markdown links; nothing else changes."""

import re
from collections.abc import Collection, Mapping
from urllib.parse import quote, unquote

_WIKI = re.compile(r"(!?\[\[)([^\[\]|#\n\\]+)((?:#[^\[\]|\n]*)?(?:\\?\|[^\[\]\n]*)?\]\])")
_MARKDOWN = re.compile(r"(\]\()(<?)([^\s()<>#:]+\.md)(>?)((?:#[^\s()]*)?\))")


def relinked(data: bytes, moves: Mapping[str, str], taken: Collection[str] = ()) -> bytes:
    """The note with each link to an old path (`moves`: old to new, in the vault) leading to the new one.

    A link by name alone stays one, and is left as it is if its name is `taken` by another note. A link in a code block
    is rewritten, too: its text then names the note that it means.
    """
    if b"[[" not in data and b"](" not in data:
        return data
    text = data.decode("utf-8", "surrogateescape")
    by_path = {_bare(old): _bare(new) for old, new in moves.items()}
    names = {_name(old): _name(new) for old, new in moves.items() if _name(old) != _name(new)}
    by_name = {old: new for old, new in names.items() if old not in taken}

    def wiki(found: re.Match[str]) -> str:
        target = found[2].strip()
        new = by_path.get(_bare(target), by_name.get(_bare(target)) if "/" not in target else None)
        if new is None:
            return found[0]
        if "/" not in target and "/" in new:
            new = _name(new)
        return found[1] + new + (".md" if target.endswith(".md") else "") + found[3]

    def markdown(found: re.Match[str]) -> str:
        target = unquote(found[3])
        new = by_path.get(_bare(target), by_name.get(_bare(target)) if "/" not in target else None)
        return found[0] if new is None else f"{found[1]}{found[2]}{quote(new)}.md{found[4]}{found[5]}"

    done = _MARKDOWN.sub(markdown, _WIKI.sub(wiki, text)) if moves else text
    return done.encode("utf-8", "surrogateescape")


def _bare(path: str) -> str:
    return path.removesuffix(".md")


def _name(path: str) -> str:
    return _bare(path).rpartition("/")[2]
