"""The logs of references (reflogs), as files: removing the entries that lead to some objects, and nothing else.

Where a repository and its work trees still lead to objects: references, indexes, stashes, operations under way.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from agent.config import durable
from agent.git.repository import common_folder, read_text
from agent.git.runner import Git
from agent.platform.here import platform

HINTS = ("ORIG_HEAD", "FETCH_HEAD")
"""Files with the last value of HEAD and the last fetch: they keep no object."""
_POINTER = re.compile(r"[A-Z_]+")
_ID = re.compile(r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")
_UNDER_WAY = ("rebase-merge", "rebase-apply", "sequencer")
_OWN = ("refs/bisect", "refs/worktree", "refs/rewritten")
"""The folders of references that each work tree has for itself."""
_STASHES = "logs/refs/stash"


def worktree_folders(git: Git) -> list[Path]:
    """The folders of the repository itself, and of each linked work tree."""
    common = common_folder(git.gitdir)
    return [common, *sorted(path for path in (common / "worktrees").glob("*") if path.is_dir())]


def all_ids(git: Git) -> set[str]:
    """The ids of all objects that the repository can read."""
    return set(
        git.run("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)").decode().split()
    )


def references(git: Git) -> dict[str, str]:
    """All references with the ids that they lead to."""
    listed = git.run("for-each-ref", "--format=%(objectname) %(refname)").decode("utf-8", "surrogateescape")
    return {name: oid for oid, _, name in (row.partition(" ") for row in listed.splitlines())}


def reached_ids(git: Git, without: Collection[str]) -> set[str]:
    """The ids of all objects that something leads to other than the references `without` and the logs of references.

    The entries of the stash count, which are in such a log. Raises `GitFailed` if a reference leads to nothing.
    """
    named = {oid for name, oid in references(git).items() if name not in without}
    ids = {oid for folder in worktree_folders(git) for path in _files(folder) for oid in _ID.findall(read_text(path))}
    checked = git.run("cat-file", "--batch-check=%(objectname)", stdin="".join(f"{oid}\n" for oid in ids).encode())
    roots = named | {row for row in checked.decode().splitlines() if not row.endswith(" missing")}
    command = ["rev-list", "--objects", "--no-object-names", "--indexed-objects", "--stdin"]
    return set(git.run(*command, stdin="".join(f"{oid}\n" for oid in sorted(roots)).encode()).decode().split())


def _files(folder: Path) -> Iterator[Path]:
    """The files of a work tree's folder that keep objects, other than shared references and the index."""
    yield from (path for path in folder.iterdir() if _POINTER.fullmatch(path.name) and path.name not in HINTS)
    yield folder / _STASHES
    for name in (*_UNDER_WAY, *_OWN):
        for parent, _, names in os.walk(folder / name):
            yield from (Path(parent, each) for each in names)


_STASH = Path("refs/stash")


def drop_entries(git: Git, gone: Collection[str], quotes: Callable[[bytes], bool]) -> None:
    """Remove every entry that leads to one of the ids `gone`, from the logs of all work trees; those of stashes stay.

    An entry that `quotes` accepts, and that leads elsewhere, only loses its words. An entry that came from one of
    `gone` comes from the one before it then.
    """
    for folder in worktree_folders(git):
        for log in _logs(folder / "logs"):
            before = _lines(log)
            after = list(_left(before, gone, quotes))
            if after != before:
                _replace(log, b"".join(after))
        for name in HINTS:
            hint = folder / name
            if hint.is_file() and any(word in gone for word in hint.read_text("utf-8", "replace").split()):
                hint.unlink()


def logged_ids(git: Git) -> set[str]:
    """The ids that the entries of these logs lead to."""
    logs = (log for folder in worktree_folders(git) for log in _logs(folder / "logs"))
    return {word.decode("ascii", "replace") for log in logs for line in _lines(log) for word in line.split(b" ")[:2]}


def _lines(log: Path) -> list[bytes]:
    return log.read_bytes().splitlines(keepends=True)


def _logs(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        paths = (Path(parent, name) for name in sorted(names))
        yield from (path for path in paths if path.relative_to(folder) != _STASH and not path.is_symlink())


def _left(lines: list[bytes], gone: Collection[str], quotes: Callable[[bytes], bool]) -> Iterator[bytes]:
    last = b""
    for line in lines:
        old, _, rest = line.partition(b" ")
        new = rest.partition(b" ")[0]
        if new.decode("ascii", "replace") in gone:
            continue
        if old.decode("ascii", "replace") in gone:
            line = b" ".join((last or b"0" * len(old), rest))
        if quotes(line):
            line = line.partition(b"\t")[0].rstrip(b"\n") + b"\t\n"
        last = new
        yield line


def _replace(log: Path, data: bytes) -> None:
    draft = log.with_name(f"{log.name}.lock")
    try:
        with draft.open("xb") as file:
            draft.chmod(log.stat().st_mode & 0o777)
            file.write(data)
            file.flush()
            platform().flush(file.fileno())
        draft.replace(log)
    finally:
        draft.unlink(missing_ok=True)
    durable.flush_folder(log.parent)
