"""Objects in files of their own, read without git: the newest ones. Most are in packs, which only git reads."""

import zlib
from pathlib import Path

_MOST = 4 << 20
"""The most compressed bytes that are read here: git needs less memory for a film."""


def load_loose(gitdir: Path, oid: str, kind: str) -> bytes | None:
    """The content of a loose object of this kind; None if it is missing or cannot be read.

    `gitdir` is the repository's shared folder.
    """
    found = load_object(gitdir, oid)
    return found[1] if found is not None and found[0] == kind else None


def load_object(gitdir: Path, oid: str) -> tuple[str, bytes] | None:
    """The type and the content of a loose object; None if it is missing, large, or not in the form that git writes."""
    try:
        with (gitdir / "objects" / oid[:2] / oid[2:]).open("rb") as file:
            squeezed = file.read(_MOST + 1)
        if len(squeezed) > _MOST:
            return None
        data = zlib.decompress(squeezed)
    except (OSError, zlib.error):
        return None
    head, _, content = data.partition(b"\0")
    kind, _, size = head.partition(b" ")
    return (kind.decode("ascii", "replace"), content) if size == b"%d" % len(content) else None
