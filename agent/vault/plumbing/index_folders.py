"""git's cached trees in an index (its extension `TREE`): the folders whose trees did not change since a commit."""

import re
from collections.abc import Collection, Iterable

from agent.vault.plumbing.objects import folders

TREES = b"TREE"
_HEAD = re.compile(rb"([^\0]*)\0(-?\d+) (\d+)\n")


def kept(
    extensions: Iterable[tuple[bytes, bytes]], paths: Collection[bytes], width: int
) -> tuple[tuple[bytes, bytes], ...]:
    """The extensions of an index after the files at `paths` have changed: all, with the cached trees that are valid."""
    return tuple((name, without(data, paths, width) if name == TREES else data) for name, data in extensions)


def without(data: bytes, paths: Iterable[bytes], width: int) -> bytes:
    """The cached trees after the files at `paths` have changed: those of the folders above are not valid any more.

    `width` is the number of hex digits of an id. Raises `ValueError` for data in another form.
    """
    changed = frozenset(folders(paths))
    out, at, open_folders = list[bytes](), 0, list[tuple[bytes, int]]()
    while at < len(data):
        head = _HEAD.match(data, at)
        if head is None:
            raise ValueError("the cached trees are in no known form")
        end = head.end() + (width // 2 if int(head[2]) >= 0 else 0)
        above, left = open_folders.pop() if open_folders else (b"", 1)
        path = above + head[1]
        if left > 1:
            open_folders.append((above, left - 1))
        is_changed = path in changed
        out.append(b"%s\0-1 %s\n" % (head[1], head[3]) if is_changed else data[at:end])
        if int(head[3]):
            open_folders.append((path and path + b"/", int(head[3])))
        at = end
    return b"".join(out)
