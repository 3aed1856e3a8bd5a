"""Checks that a repository's own files lie inside it: through a link, a commit would write somewhere else.

A folder may come from a stranger as an archive, `.git` included. Only the paths that this program and its git calls
write or read first are checked, by name. `trust` checks what git could execute.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agent.errors import NotAVault

_FILES = (
    "HEAD",
    "config",
    "index",
    "index.lock",
    "packed-refs",
    "commondir",
    "gitdir",
    "vault-agent/id",
    "vault-agent/worktree",
    "info/exclude",
)
_HARMLESS = frozenset({"hooks"})
"""People link their hooks; this program reads and writes there only on request."""


def refuse_links(gitdir: Path) -> None:
    """Raise `NotAVault` if a part of the repository is a link, or a pipe in the place of a file."""
    common = common_folder(gitdir)
    if common != gitdir and (gitdir.parent.name != "worktrees" or common.resolve() != gitdir.parent.parent):
        raise NotAVault(
            "{gitdir} says that its history is in {common}, which is another repository",
            hint="use a clone, or a work tree made by `git worktree add`",
            gitdir=gitdir,
            common=common,
        )
    for folder in dict.fromkeys((gitdir, common)):
        for path in _suspects(folder):
            raise NotAVault(
                "{path} is a link or not a plain file: writing there would change something outside the repository",
                hint="if this repository is yours, put the real thing in its place: ls -l {path}",
                path=path,
            )


def common_folder(gitdir: Path) -> Path:
    """The shared repository of a linked work tree; otherwise `gitdir` itself."""
    pointer = gitdir / "commondir"
    if not _is_plain(pointer):
        return gitdir
    return Path(os.path.normpath(gitdir / pointer.read_text("utf-8", "surrogateescape").strip()))


def _suspects(gitdir: Path) -> Iterator[Path]:
    for folder in (gitdir, gitdir / "objects", gitdir / "vault-agent", gitdir / "info", *_of_branch(gitdir)):
        try:
            with os.scandir(folder) as entries:
                links = [entry.name for entry in entries if entry.is_symlink() and entry.name not in _HARMLESS]
        except OSError:
            continue
        yield from (folder / name for name in links)
    yield from (gitdir / name for name in _FILES if _mode(gitdir / name) not in {stat.S_IFREG, None})


def _of_branch(gitdir: Path) -> Iterator[Path]:
    """The folders on the way to HEAD's branch, and to its log."""
    head = gitdir / "HEAD"
    name = head.read_text("utf-8", "surrogateescape").strip().removeprefix("ref:").strip() if _is_plain(head) else ""
    parts = [part for part in name.split("/") if part not in {"", ".", ".."}]
    for top in (gitdir, gitdir / "logs"):
        for depth in range(len(parts)):
            yield top.joinpath(*parts[:depth]) if depth else top


def _is_plain(path: Path) -> bool:
    return _mode(path) == stat.S_IFREG


def _mode(path: Path) -> int | None:
    """The kind of file, by one look, as git's locks come and go; None for nothing that can be seen."""
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except OSError:
        return None
