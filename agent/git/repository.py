"""Finds a vault's repository, checks that its own files lie inside it, and that its state allows commits."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent.config.directories import VAULT_FILE
from agent.dataclass import dataclass
from agent.errors import NotAVault, UserError
from agent.lazy import later

if TYPE_CHECKING:
    from agent.git.gitdir_pointer import pointed_repository
else:
    pointed_repository = later("agent.git.gitdir_pointer", "pointed_repository")


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


MARKER = VAULT_FILE
"""The file that makes a folder a vault."""
OWN_REFS = "refs/vault-agent/"
"""The folder of the refs that only this program writes."""

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LINKS = 5
"""Maximum number of references to references that are followed, as in git."""
_UNDER_WAY = (
    ("rebase-merge", "a rebase is under way"),
    ("rebase-apply", "a rebase or a patch series is under way"),
    ("MERGE_HEAD", "a merge is under way"),
    ("CHERRY_PICK_HEAD", "a cherry-pick is under way"),
    ("REVERT_HEAD", "a revert is under way"),
    ("BISECT_LOG", "a bisect is under way"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """A vault's folder and its repository. `prefix` is the vault's path in the work tree, empty or ending in `/`."""

    root: Path
    gitdir: Path
    worktree: Path

    @property
    def prefix(self) -> str:
        inside = str(self.root)[len(str(self.worktree)) :].strip("/")
        return inside and inside + "/"

    @property
    def pathspec(self) -> list[str]:
        """The last arguments of a git command, which limit it to the vault."""
        return ["--", self.prefix.rstrip("/")] if self.prefix else ["--"]

    def in_git(self, path: str) -> bytes:
        """git's path for a path of the vault: relative to the top of the work tree, in bytes."""
        return (self.prefix + path).encode("utf-8", "surrogateescape")

    def in_vault(self, paths: Iterable[str]) -> list[str]:
        """git's paths that are in the vault, relative to the vault."""
        prefix = self.prefix
        return [path.removeprefix(prefix) for path in paths if path and path.startswith(prefix)]


def locate(root: Path, *, adopting: bool = False) -> Place | None:
    """The repository that contains `root`, None if there is none; raises `NotAVault` if its `.git` leads elsewhere.

    `adopting`: a repository elsewhere that may become this work tree's counts, too (`gitdir_pointer`).
    """
    root = root.resolve()
    for folder in (root, *root.parents):
        candidate = folder / ".git"
        try:
            kind = candidate.lstat().st_mode
        except OSError:
            continue
        if stat.S_ISLNK(kind):
            raise NotAVault(
                "{candidate} is a link", hint="replace it by the repository's own folder", candidate=candidate
            )
        gitdir = candidate if stat.S_ISDIR(kind) and os.path.lexists(candidate / "HEAD") else None
        if stat.S_ISREG(kind):
            gitdir = pointed_repository(candidate, folder, adopting=adopting)
        if gitdir is not None:
            refuse_links(gitdir)
            return Place(root, gitdir, folder)
    return None


def branch(gitdir: Path) -> str | None:
    """The full name of HEAD's branch, None if HEAD is detached."""
    head = (gitdir / "HEAD").read_text("utf-8", "replace").strip()
    return head.removeprefix("ref:").strip() if head.startswith("ref:") else None


def head_commit(gitdir: Path, common: Path) -> str:
    """The id of HEAD's commit, read from the repository's files; empty if there is none yet.

    `common` is the folder that all work trees share, which has the branches. Raises `UserError` if HEAD or its branch
    is damaged, as a power failure can leave it: the vault then looks as if it had no history.
    """
    found = _followed(read_text(gitdir / "HEAD"), common)
    if not found and (damaged := damaged_reference(gitdir, common)):
        raise UserError("{path} is damaged", hint="vault-agent doctor says how to mend it", path=damaged)
    return found


def damaged_reference(gitdir: Path, common: Path) -> Path | None:
    """The file of HEAD, or of its branch, that names neither a branch nor a commit."""
    text = read_text(gitdir / "HEAD")
    if not text.startswith("ref:"):
        return None if is_id(text) else gitdir / "HEAD"
    file = common / text.removeprefix("ref:").strip()
    pointed = read_text(file)
    return file if file.is_file() and not is_id(pointed) and not pointed.startswith("ref:") else None


def ref_commit(common: Path, ref: str) -> str:
    """The id that a ref of all work trees has (`refs/remotes/origin/main`), read in the same way; empty if it is none.

    The ref's name must be one that git accepts.
    """
    return _followed(f"ref: {ref}", common)


def _followed(text: str, common: Path) -> str:
    for _ in range(_LINKS):
        if not text.startswith("ref:"):
            break
        name = text.removeprefix("ref:").strip()
        text = read_text(common / name) or packed_refs(common).get(name, "")
    return text if is_id(text) else ""


def packed_refs(common: Path) -> dict[str, str]:
    """The commits of the references in git's packed file, by full name."""
    rows = (line.partition(" ") for line in read_text(common / "packed-refs").split("\n"))
    return {name.strip(): oid for oid, _, name in rows if is_id(oid)}


def is_id(text: str) -> bool:
    """True if a text is the full id of an object, in hex."""
    return _ID.fullmatch(text) is not None


def read_text(path: Path) -> str:
    """A file's text without surrounding white space; empty if it cannot be read."""
    try:
        return path.read_text("utf-8", "surrogateescape").strip() if path.is_file() else ""
    except OSError:
        return ""


def blocked(gitdir: Path) -> str | None:
    """The reason why commits must wait, in words for the person; None if they need not."""
    for name, reason in _UNDER_WAY:
        if os.path.lexists(gitdir / name):
            return reason
    if branch(gitdir) is None:
        if not is_id(read_text(gitdir / "HEAD")):
            return "git's HEAD is damaged: vault-agent doctor says how to mend it"
        return "HEAD is detached (no branch is checked out)"
    return None
