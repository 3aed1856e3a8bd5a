"""Refuses what is too much to be read, before any of it is: too many files, folders in folders, large notes.

Only numbers are asked of git here, so that the answer costs little however much has come. The files of a commit are
counted without listing them, as a few trees that name each other can stand for millions of paths: a tree has as many
files as the trees in it together, so each one is read once, however often it is named.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from agent.config.receiving_limits import ReceivingLimits, TooMuch
from agent.dataclass import dataclass
from agent.git.runner import Git

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
        part, size = list[str](), 0
        for name, length in self.git.sizes(trees).items():
            if length > _LARGEST_TREE:
                self._known[name] = TreeSize(ENDLESS, ENDLESS)
                continue
            if part and size + length > _AT_ONCE:
                yield part
                part, size = [], 0
            part.append(name)
            size += length
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


_BIG = 1_000_000
_NOTE = ".md"


def check_sizes(git: Git, new: Sequence[str], known: Iterable[str], limits: ReceivingLimits) -> None:
    """Raise `TooMuch` if the history of the commits `new`, without that of `known`, is beyond a limit.

    The first file or commit that is names itself in the error.
    """
    asked = _history(new, known)
    for commit, size in TreeSizes(git).of_commits(_commits(git, asked)).items():
        if is_too_much(size, limits):
            raise _too_much(commit, size, limits)
    for path, found in _sizes(git, asked):
        if limits.note and path.endswith(_NOTE) and found > limits.note:
            raise _too_large(path, found, limits.note, "git.largest_megabytes")
        if limits.fetch and found > limits.fetch:
            raise _too_large(path, found, limits.fetch, "git.fetch_megabytes")


def has_too_much(git: Git, tip: str, known: Iterable[str], limits: ReceivingLimits) -> bool:
    """True if a commit in the history of `tip`, without that of `known`, is too much to be read."""
    commits = _commits(git, _history([tip], known))
    return any(is_too_much(size, limits) for size in TreeSizes(git).of_commits(commits).values())


def is_too_much(size: TreeSize, limits: ReceivingLimits) -> bool:
    """True if a commit with a tree of this size must not be read."""
    return size.files > limits.files or size.depth > limits.depth


def _history(new: Iterable[str], known: Iterable[str]) -> bytes:
    """The commits of a history, as `rev-list` reads them."""
    names = (*filter(None, new), *(f"^{each}" for each in known if each))
    return "".join(f"{name}\n" for name in names).encode()


def _commits(git: Git, history: bytes) -> list[str]:
    found = git.run("rev-list", "--ignore-missing", "--stdin", stdin=history) if history else b""
    return found.decode("ascii", "replace").split()


def _sizes(git: Git, history: bytes) -> Iterator[tuple[str, int]]:
    """The path and the bytes of each file in these commits."""
    command = ["rev-list", "--ignore-missing", "--objects", "--filter=object:type=blob", "--stdin"]
    listed = git.run(*command, stdin=history)
    rows = git.run("cat-file", "--batch-check=%(objecttype) %(objectsize) %(rest)", stdin=listed) if listed else b""
    for row in rows.decode("utf-8", "surrogateescape").split("\n"):
        kind, _, rest = row.partition(" ")
        size, _, path = rest.partition(" ")
        if kind == "blob" and size.isdecimal():
            yield path, int(size)


def _too_much(commit: str, size: TreeSize, limits: ReceivingLimits) -> TooMuch:
    if size.files > limits.files:
        return TooMuch(
            "what came is refused and was dropped: its commit {commit} has more than {most:,} files",
            hint="look at it where it was made; if it is meant so: vault-agent config set git.most_files NUMBER",
            commit=commit[:12],
            most=limits.files,
        )
    return TooMuch(
        "what came is refused and was dropped: its commit {commit} has more than {most} folders in each other",
        hint="look at it where it was made; if it is meant so: vault-agent config set git.deepest_folder NUMBER",
        commit=commit[:12],
        most=limits.depth,
    )


def _too_large(path: str, size: int, most: int, setting: str) -> TooMuch:
    return TooMuch(
        "what came is refused and was dropped: {path} has {size:.0f} MB, and {most:g} MB are the most",
        hint="take it out where it was made; if it is meant so: vault-agent config set {setting} NUMBER",
        path=ascii(path)[1:-1],
        size=size / _BIG,
        most=most / _BIG,
        setting=setting,
    )
