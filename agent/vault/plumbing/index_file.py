"""Questions to the repository's index that most commits ask, answered from its bytes where git need not be asked.

Listing the index with git takes longer the more notes there are. Most vaults have no submodule and no sparse checkout,
and that can be told from the bytes at once (the format is that of gitformat-index(5)); elsewhere git has the last word.
"""

from collections.abc import Collection
from pathlib import Path

from agent.errors import Permanent
from agent.vault.plumbing.git import Git

_LINK_MODE = b"\0\0\xe0\0"
"""The mode 160000 as an index entry has it, in 32 bits."""
_VERSION_2, _VERSION_3 = b"\0\0\0\2", b"\0\0\0\3"

_NAMED = 500


def submodules(git: Git, paths: Collection[bytes]) -> set[bytes]:
    """Those of the paths at which the index has another repository's commit (a submodule)."""
    content, is_whole = _content(git.gitdir)
    if is_whole and _LINK_MODE not in content:
        return set()
    asked = [*paths]
    if is_whole and content[4:8] in {_VERSION_2, _VERSION_3}:
        names = _linked_names(content, git.width // 2)
        asked = [path for path in paths if path in names]
    if not asked:
        return set()
    out = git.run("ls-files", "-s", "-z", *_only(asked))
    found = {row.partition(b"\t")[2] for row in out.split(b"\0") if row.startswith(b"160000 ")}
    return found.intersection(paths)


def skipped(git: Git, paths: Collection[bytes]) -> set[bytes]:
    """Those of the paths that the index marks as kept out of the working tree (by `git sparse-checkout`, mostly)."""
    content, is_whole = _content(git.gitdir)
    if not paths or (is_whole and content[4:8] in {b"", _VERSION_2}):  # version 2 has no room for the mark
        return set()
    out = git.run("ls-files", "-t", "-z", *_only(paths))
    return {row[2:] for row in out.split(b"\0") if row.startswith(b"S ")}.intersection(paths)


def check_not_sparse(git: Git) -> None:
    """Raise `Permanent` in a sparse checkout: a new index of HEAD would call every note deleted that is away."""
    if git.run("config", "--bool", "core.sparseCheckout", ok=(0, 1)).strip() == b"true":
        raise Permanent(
            "the index of this sparse checkout is lost, and only git knows which notes are kept out of the folder",
            hint="move .git/index away if it is there, then: git read-tree -m HEAD && git sparse-checkout reapply",
        )


def _content(gitdir: Path) -> tuple[bytes, bool]:
    """The index's bytes, and whether they are all of it: a split index has most entries in another file."""
    try:
        content = (gitdir / "index").read_bytes()
    except FileNotFoundError:
        return b"", True
    return content, not any(gitdir.glob("sharedindex.*"))


def _linked_names(content: bytes, id_bytes: int) -> set[bytes]:
    """Names that stand where an entry with the mode of a submodule has its name; a few may be no names at all."""
    found = set[bytes]()
    at = content.find(_LINK_MODE)
    while at >= 0:
        flags = at + len(_LINK_MODE) + 12 + id_bytes  # owner, group and size come before the id
        is_extended = bool(content[flags : flags + 1] and content[flags] & 0x40)
        start = flags + (4 if is_extended else 2)
        found.add(content[start : content.find(b"\0", start)])
        at = content.find(_LINK_MODE, at + 1)
    return found


def _only(paths: Collection[bytes]) -> list[str]:
    """The arguments that limit a list to the paths; none where they are too many for a command line."""
    return ["--", *map(_text, paths)] if len(paths) <= _NAMED else []


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
