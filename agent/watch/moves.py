"""Which of the files that are gone are now elsewhere: by the same content, else by the same `id` in the header.

Pure; what is gone and what is new is for others to find out.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping


def pair_by(new: Mapping[str, str], gone: Mapping[str, str]) -> dict[str, str]:
    """Each new path with the old one it came from, by equal non-empty marks (content hashes, or ids).

    Where several have the same mark, those of the same file name go together first, then in order of path.
    """
    pairs: dict[str, str] = {}
    _pair(new, gone, pairs, lambda path, mark: (mark, path.rpartition("/")[2]))
    _pair(new, gone, pairs, lambda path, mark: (mark, ""))
    return pairs


def _pair(
    new: Mapping[str, str],
    gone: Mapping[str, str],
    pairs: dict[str, str],
    key: Callable[[str, str], tuple[str, str]],
) -> None:
    taken = set(pairs.values())
    sources: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path, mark in sorted(gone.items(), reverse=True):
        if mark and path not in taken:
            sources[key(path, mark)].append(path)
    for path, mark in sorted(new.items()):
        if path not in pairs and (fitting := sources.get(key(path, mark))):
            pairs[path] = fitting.pop()
