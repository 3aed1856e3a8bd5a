"""A `.git` that is a file, and names a repository elsewhere: which of these may be this vault's.

Such a file may come from a stranger, and name a repository of the person's that has nothing to do with the folder: what
is written into the vault would be committed there. So the repository has to point back: as git's own files do for a
linked work tree or a submodule, or by a file that `init` writes. A repository that `git init --separate-git-dir` has
made points nowhere; `init` takes it if it is nobody else's.
"""

from pathlib import Path

from agent.errors import NotAVault
from agent.texts import Sentence

OWNER = "vault-agent/worktree"
"""The file, in a repository elsewhere, with the path of the `.git` file that leads to it."""
_PARTS = (("HEAD", Path.is_file), ("objects", Path.is_dir), ("refs", Path.is_dir))


def pointed_repository(pointer: Path, worktree: Path, *, adopting: bool = False) -> Path:
    """The repository that a `.git` file names, if that is this work tree's; `adopting`: also if it may become so.

    Raises `NotAVault`.
    """
    line = pointer.read_text("utf-8", "replace").strip()
    gitdir = (worktree / line.removeprefix("gitdir:").strip()).resolve()
    if _points_back(gitdir, pointer, worktree):
        return gitdir
    if not adopting:
        raise NotAVault(
            "{pointer} points to {gitdir}, which does not point back",
            hint="if that is this folder's own repository: vault-agent init {worktree}",
            pointer=pointer,
            gitdir=gitdir,
            worktree=worktree,
        )
    if reason := _reason_against(gitdir, pointer, worktree):
        raise NotAVault(
            "{pointer} points to {gitdir}, which is not this folder's: {reason}",
            hint="use a folder with its own repository, or a worktree made by `git worktree add`",
            pointer=pointer,
            gitdir=gitdir,
            reason=Sentence(reason),
        )
    return gitdir


def is_adopted(gitdir: Path, worktree: Path) -> bool:
    """True if the repository is in the folder itself, or points back to it."""
    pointer = worktree / ".git"
    return gitdir == pointer or _points_back(gitdir, pointer, worktree)


def _points_back(gitdir: Path, pointer: Path, worktree: Path) -> bool:
    if any(_names(gitdir / name, pointer) for name in ("gitdir", OWNER)):
        return True
    return gitdir.is_relative_to(worktree.parent) and _setting(gitdir, "worktree") == str(worktree.resolve())


def _names(back: Path, pointer: Path) -> bool:
    return back.is_file() and Path(back.read_text("utf-8", "surrogateescape").strip()).resolve() == pointer.resolve()


def _reason_against(gitdir: Path, pointer: Path, worktree: Path) -> str:
    """Why a repository that does not point back cannot be this work tree's; empty if it can."""
    if not all(is_there(gitdir / name) for name, is_there in _PARTS):
        return "it is no whole repository"
    if ".git" in gitdir.parts or (gitdir / "commondir").exists():
        return "it belongs to another folder"
    if gitdir.is_relative_to(worktree.resolve()):
        return "it lies in the folder itself"
    if _setting(gitdir, "bare") not in {None, "false"}:
        return "it is a bare repository"
    if _setting(gitdir, "worktree") not in {None, str(worktree.resolve())}:
        return "it belongs to another folder"
    if gitdir.stat().st_uid != worktree.stat().st_uid:
        return "it belongs to another account"
    owner = gitdir / OWNER
    other = Path(owner.read_text("utf-8", "surrogateescape").strip()) if owner.is_file() else None
    return "it belongs to another folder" if other is not None and _leads_to(other, gitdir) else ""


def _leads_to(pointer: Path, gitdir: Path) -> bool:
    """True if a `.git` file is still there and names the repository."""
    try:
        line = pointer.read_text("utf-8", "replace").strip()
    except OSError:
        return False
    return (pointer.parent / line.removeprefix("gitdir:").strip()).resolve() == gitdir


def _setting(gitdir: Path, name: str) -> str | None:
    """The first value of a key in the repository's configuration; a folder as an absolute path."""
    try:
        lines = (gitdir / "config").read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.strip().partition("=")
        if key.strip().lower() == name:
            plain = value.strip().strip('"')
            return str((gitdir / plain).resolve()) if name == "worktree" else plain.lower()
    return None
