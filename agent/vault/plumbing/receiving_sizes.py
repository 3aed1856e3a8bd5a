"""Refuses what is too much to be read, before any of it is: too many files, folders in folders, large notes.

Only numbers are asked of git here, so that the answer costs little however much has come.
"""

from collections.abc import Iterable, Iterator, Sequence

from agent.vault.plumbing.git import Git
from agent.vault.plumbing.tree_sizes import TreeSize, TreeSizes
from agent.vault.receiving_limits import ReceivingLimits, TooMuch

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
