"""The logs of references (reflogs), as files: removing the entries that lead to some objects, and nothing else."""

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from agent.vault import durable
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.kept_roots import HINTS, worktree_folders

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
            os.fsync(file.fileno())
        draft.replace(log)
    finally:
        draft.unlink(missing_ok=True)
    durable.flush_folder(log.parent)
