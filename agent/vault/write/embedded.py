"""Which files the notes of a vault show or link to: those that travel with them."""

import re
from collections.abc import Collection, Iterator
from urllib.parse import unquote

from agent.vault.plumbing.git import Git

_LINK = r"\[\[[^]|#]+|\]\(<?[^)#>]+"
"""A pattern in git's extended form: the beginning of a wikilink or Markdown link, up to the end of its target."""
_TARGET = re.compile(r"(?:\[\[|\]\(<?)\s*([^\n]+)")
_TITLE = re.compile(r"""\s+["'].*$""")
"""The title of a Markdown link, behind its target."""


def embedded_files(git: Git, paths: Collection[str]) -> frozenset[str]:
    """Those of the files that a note names in an embed or a link, by its name or by a path that ends alike."""
    if not paths:
        return frozenset()
    named: dict[str, list[str]] = {}
    for path in paths:
        named.setdefault(_name(path), []).append(path)
    return frozenset(
        path
        for target in _targets(git)
        for path in named.get(_name(target), ())
        if f"/{path}".casefold().endswith(f"/{_plain(target)}".casefold())
    )


def _targets(git: Git) -> Iterator[str]:
    """The targets of the links in all notes, in a commit or not."""
    how = ("-h", "-o", "-I", "-E", "--untracked", "--no-textconv", "--no-color", "--no-line-number")
    command = ("--no-literal-pathspecs", "grep", *how, "-e", _LINK, "--", ":(glob)**/*.md")
    found = git.run(*command, ok=(0, 1), drivers_off=True)
    for line in dict.fromkeys(found.decode("utf-8", "replace").splitlines()):
        if (match := _TARGET.match(line)) is not None:
            yield unquote(_TITLE.sub("", match[1]).strip())


def _plain(target: str) -> str:
    """A target without what leads from the note's own folder to it."""
    return "/".join(part for part in target.split("/") if part not in {"", ".", ".."})


def _name(path: str) -> str:
    return path.rpartition("/")[2].casefold()
