"""Counts the files of commits without listing them: a few trees that name each other can stand for millions of paths.

A tree has as many files as the trees in it together, so each one is read once, however often it is named.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.vault.plumbing.git import Git

_LARGEST_TREE = 64 << 20
"""Bytes of one folder's list from which it is not read: 200,000 names of 255 bytes have less."""
_AT_ONCE = 32 << 20
"""Bytes of lists that are read together."""
_FOLDER = b"40000 "
ENDLESS = 1 << 60
"""The number of files, and of levels, of a tree that is too large to be read."""


@dataclass(frozen=True, slots=True)
class TreeSize:
    """The number of files in a tree, with those in the folders below, and of the levels of folders."""

    files: int
    depth: int


@dataclass(slots=True)
class TreeSizes:
    """The sizes of trees of one repository, each counted once."""

    git: Git
    _known: dict[str, TreeSize] = field(default_factory=dict)

    def of_commits(self, commits: Sequence[str]) -> dict[str, TreeSize]:
        """The size of each commit's tree."""
        if not commits:
            return {}
        asked = "".join(f"{commit}^{{tree}}\n" for commit in commits).encode()
        rows = self.git.run("cat-file", "--batch-check=%(objectname)", stdin=asked).decode("ascii", "replace")
        roots = dict(zip(commits, rows.splitlines(), strict=True))
        self._count(roots.values())
        return {commit: self._known.get(root, TreeSize(0, 0)) for commit, root in roots.items()}

    def _count(self, roots: Iterable[str]) -> None:
        """Read the trees from the top to the bottom, a level at a time, then add up from the bottom."""
        found: dict[str, tuple[int, tuple[str, ...]]] = {}
        level = [root for root in dict.fromkeys(roots) if root not in self._known]
        while level:
            below: dict[str, None] = {}
            for tree, files, folders in self._read(level):
                found[tree] = files, folders
                below |= dict.fromkeys(each for each in folders if each not in self._known)
            level = [each for each in below if each not in found]
        for tree in found:
            self._add_up(tree, found)

    def _add_up(self, root: str, found: Mapping[str, tuple[int, tuple[str, ...]]]) -> None:
        stack = [root]
        while stack:
            tree = stack[-1]
            files, folders = found.get(tree, (0, ()))
            missing = [each for each in folders if each not in self._known]
            if tree not in self._known and missing:
                stack += missing
                continue
            stack.pop()
            sizes = [self._known[each] for each in folders]
            total = min(files + sum(each.files for each in sizes), ENDLESS)
            depth = max((each.depth + 1 for each in sizes), default=0)
            self._known.setdefault(tree, TreeSize(total, depth if files < ENDLESS else ENDLESS))

    def _read(self, trees: Sequence[str]) -> Iterator[tuple[str, int, tuple[str, ...]]]:
        """Each tree with the number of its own files and the ids of its folders."""
        for part in self._parts(trees):
            for each in self.git.objects(part):
                if each is not None and each.kind == "tree":
                    files, folders = _parsed(each.data, self.git.width)
                    yield each.oid, files, folders

    def _parts(self, trees: Sequence[str]) -> Iterator[list[str]]:
        """The trees in parts that are small enough to be read together; those that are too large are counted here."""
        asked = "".join(f"{tree}\n" for tree in trees).encode()
        rows = self.git.run("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=asked).decode()
        part, size = list[str](), 0
        for name, _, bytes_ in (row.partition(" ") for row in rows.splitlines()):
            if not bytes_.isdecimal():
                continue  # missing: git says so where it is needed
            if int(bytes_) > _LARGEST_TREE:
                self._known[name] = TreeSize(ENDLESS, ENDLESS)
                continue
            if part and size + int(bytes_) > _AT_ONCE:
                yield part
                part, size = [], 0
            part.append(name)
            size += int(bytes_)
        if part:
            yield part


def _parsed(data: bytes, width: int) -> tuple[int, tuple[str, ...]]:
    """The number of files in a tree's list, and the ids of its folders."""
    files, folders, position = 0, list[str](), 0
    while 0 <= position < len(data):
        end = data.find(b"\0", position) + 1
        if not end:
            break
        if data.startswith(_FOLDER, position) or data.startswith(b"0" + _FOLDER, position):
            folders.append(data[end : end + width // 2].hex())
        else:
            files += 1
        position = end + width // 2
    return files, tuple(folders)
