"""The files that differ from the last commit, and the borders inside the vault at which this program must not write."""

import errno
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.errors import BadPath
from agent.git.index_file import load_index
from agent.git.object_ids import MODULE
from agent.git.repository import Place
from agent.git.runner import Git
from agent.git.running import Obstructed, Running
from agent.vault.held_back import load_held_back
from agent.vault.worktree.paths import is_note, is_temporary

if TYPE_CHECKING:
    from agent.git.commit import Tip

_MARKS = tuple("." + "".join(letters) for letters in product("gG", "iI", "tT"))
"""`.git` in every spelling: a file system that ignores case treats them all as git's folder."""


def is_foreign(root: Path, path: str, known: dict[str, bool]) -> bool:
    """True if a folder above the path has a `.git`; `known` caches the answers by folder."""
    return any(is_repository(root, folder, known) for folder in folders_above(path))


def is_repository(root: Path, folder: str, known: dict[str, bool]) -> bool:
    """True if a folder of the vault has a `.git`, in any spelling; `known` caches the answers."""
    if folder not in known:
        known[folder] = any(os.path.lexists(f"{root}/{folder}/{mark}") for mark in _MARKS)
    return known[folder]


def folders_above(path: str) -> Iterator[str]:
    """The folders above a path, outermost first, without the root."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


IGNORE_FILE = ".gitignore"
DRAFT = "a draft of yours"
"""Why a commit of a person's edits leaves one out (`drafts`)."""
_QUOTED = re.compile("['\"](.+)['\"]")
_REASONS = tuple(f": {os.strerror(code)}" for code in errno.errorcode)
_LABEL = re.compile(r"^(?:warning|error|fatal): ")


class DirtyKind(StrEnum):
    """The difference of a file from HEAD."""

    EDITED = "edited"
    CREATED = "created"
    DELETED = "deleted"
    STAGED = "staged"
    UNMERGED = "unmerged"


@dataclass(frozen=True, slots=True)
class Dirty:
    """One changed file; `oid` is HEAD's blob (empty for a new file), `staged` the index's of a staged one."""

    path: str
    kind: DirtyKind
    oid: str = ""
    staged: str = ""


@dataclass(frozen=True, slots=True)
class Survey:
    """The changed files of a vault, and the files and folders (ending in `/`) that git could not read."""

    changed: tuple[Dirty, ...]
    unread: tuple[str, ...] = ()


def survey(git: Git, place: Place, paths: Collection[str] = ()) -> Survey:
    """The files of the vault, or of `paths`, that differ from HEAD; no lock is taken and no filter run."""
    with surveying(git, place, paths) as found:
        return found()


@contextmanager
def surveying(git: Git, place: Place, paths: Collection[str] = ()) -> Iterator[Callable[[], Survey]]:
    """A block in which git looks for what `survey` gives; the function waits for it."""
    only = [place.prefix + path for path in paths] or [place.prefix.rstrip("/")]
    pathspec = ["--", *only] if only != [""] else []
    running = _start(git, pathspec)
    try:
        yield lambda: _survey(git, place, *_output(git, running, pathspec))
    finally:
        running.end()


def _start(git: Git, pathspec: Sequence[str]) -> Running:
    """Start git status; if git could not match a pattern in time before, only for the tracked files."""
    new = "all" if git.costly is None else "no"
    command = ["status", "--porcelain=v2", "-z", f"--untracked-files={new}", "--no-renames", "--ignore-submodules=all"]
    return git.start(*command, *pathspec, drivers_off=True)


def _output(git: Git, running: Running, pathspec: Sequence[str]) -> tuple[str, bytes]:
    """What git printed, and its warnings; asked once more if it cannot match a pattern in time."""
    try:
        out = running.wait()
    except Obstructed as error:
        if git.costly is not None or not error.hazard.pattern:
            raise
        git.costly = error.hazard
        running = _start(git, pathspec)
        out = running.wait()
    return out.decode("utf-8", "surrogateescape"), running.stderr


def _survey(git: Git, place: Place, out: str, warnings: bytes) -> Survey:
    found = [item for line in out.split("\0") if (item := _parse(line)) is not None]
    known: dict[str, bool] = {}
    found = _without_held_back(git, found)
    changed = tuple(
        replace(item, path=item.path.removeprefix(place.prefix))
        for item in found
        if item.path.startswith(place.prefix) and not item.path.endswith("/") and not is_temporary(item.path)
        if item.kind is not DirtyKind.CREATED or not is_foreign(place.root, item.path.removeprefix(place.prefix), known)
    )
    unread = dict.fromkeys(unreadable(warnings.decode("utf-8", "surrogateescape")))
    if git.costly is not None:
        unread[f"new files ({git.costly})"] = None
    return Survey(changed, tuple(path.removeprefix(place.prefix) for path in unread))


def _without_held_back(git: Git, found: list[Dirty]) -> list[Dirty]:
    """The files without those that are held back, which differ from HEAD on purpose, and without new ones that only
    rules which are held back no longer ignore; all by their paths in the repository."""
    held = load_held_back(git.gitdir)
    if not held.files:
        return found
    found = [item for item in found if held.get(item.path, item.oid) is None]
    created = [item.path for item in found if item.kind is DirtyKind.CREATED]
    rules = (each for each in held.files.values() if each.is_held and each.path.rpartition("/")[2] == IGNORE_FILE)
    private = ignored_here(git, created) if created and any(rules) else frozenset()
    return [item for item in found if item.path not in private]


def ignored_here(git: Git, paths: Collection[str]) -> frozenset[str]:
    """The paths that the ignore rules on this disk keep out of git, however their letters are written; also of files
    that git follows. Rules that only the index has do not count."""
    known: dict[str, bool] = {}
    asked = [path for path in paths if not _is_below_a_link(git.worktree, path, known)]  # git would refuse all of them
    if not asked:
        return frozenset()
    stdin = b"".join(f"./{path}\0".encode("utf-8", "surrogateescape") for path in asked)  # no path has a magic there
    command = ["-c", "core.ignoreCase=true", "--no-literal-pathspecs", "check-ignore", "--no-index", "-z", "--stdin"]
    return frozenset(path.removeprefix("./") for path in git.fields(*command, stdin=stdin, ok=(0, 1)))


def _is_below_a_link(worktree: Path, path: str, known: dict[str, bool]) -> bool:
    for folder in folders_above(path):
        if folder not in known:
            known[folder] = (worktree / folder).is_symlink()
        if known[folder]:
            return True
    return False


def unreadable(stderr: str) -> Iterator[str]:
    """The files and folders that git could not read, parsed from its messages on standard error."""
    for line in stderr.splitlines():
        reason = next((reason for reason in _REASONS if line.endswith(reason)), None)
        if reason is None:
            continue
        what = _LABEL.sub("", line.removesuffix(reason))
        quoted = _QUOTED.search(what)
        yield quoted[1] if quoted else what


def note_paths(git: Git, place: Place, folder: str = "") -> list[str]:
    """The notes in a folder (empty: the vault), sorted; without what git ignores or a sparse checkout excludes."""
    where, prefix = ("--", place.prefix + folder) if folder else place.pathspec, place.prefix
    listed = git.fields("ls-files", "-t", "-z", "--cached", "--others", "--exclude-standard", *where)
    rows = ((row[:1], row[2:].removeprefix(prefix)) for row in listed)
    away, root = load_held_back(git.gitdir).private, place.root
    names = {name for tag, name in rows if is_note(name) and (tag != "S" or os.path.lexists(root / name))}
    return sorted(names - {path.removeprefix(prefix) for path in away})


def dirty(git: Git, place: Place, paths: Collection[str] = ()) -> list[Dirty]:
    """The changed files of `survey`, without the unread ones."""
    return list(survey(git, place, paths).changed)


def _parse(line: str) -> Dirty | None:
    """One record of git status; None for submodules."""
    if line.startswith("? "):
        return Dirty(line[2:], DirtyKind.CREATED)
    if line.startswith("u "):
        return Dirty(line.split(" ", 10)[10], DirtyKind.UNMERGED)
    if not line.startswith("1 "):
        return None
    _, states, submodule, _, _, _, head, index, path = line.split(" ", 8)
    if submodule.startswith("S"):
        return None
    if states[0] != ".":
        return Dirty(path, DirtyKind.STAGED, head.strip("0") and head, index.strip("0") and index)
    return Dirty(path, DirtyKind.DELETED if states[1] == "D" else DirtyKind.EDITED, head)


def filtered(git: Git, place: Place, paths: Sequence[str]) -> set[str]:
    """The paths that a git filter (such as LFS) would rewrite: git has to add them itself."""
    if not paths:
        return set()
    asked = b"".join(place.in_git(path) + b"\0" for path in paths)
    out = git.fields("check-attr", "-z", "--stdin", "filter", stdin=asked)
    return {
        path.removeprefix(place.prefix)
        for path, value in zip(out[0::3], out[2::3], strict=False)
        if value not in {"unspecified", "unset"}
    }


def check_ours(git: Git, place: Place, paths: Collection[str]) -> None:
    """Raise `BadPath` for the first path at which this program must not write."""
    for reason in closed(git, place, paths).values():
        raise reason


def closed(git: Git, place: Place, paths: Collection[str]) -> dict[str, BadPath]:
    """The paths at which this program must not write, each with the error that explains it.

    The cost grows with the number of notes only if there are submodules or a sparse checkout.
    """
    known: dict[str, bool] = {}
    found: dict[str, BadPath] = {}
    above = {_bytes(folder) for path in paths for folder in (*folders_above(place.prefix + path), place.prefix + path)}
    index = load_index(git)
    modules = {_text(folder) for folder in index.submodules(above)}
    for path in paths:
        for folder in (*folders_above(path), path):
            if is_repository(place.root, folder, known) or place.prefix + folder in modules:
                found[path] = _foreign(path, folder)
                break
        else:
            if around := modules.intersection(folders_above(place.prefix)):  # the vault is in an absent submodule
                found[path] = _foreign(path, min(around))
    held = load_held_back(git.gitdir)
    found |= {path: _private(path) for path in paths if place.prefix + path in held.private}
    absent = {_bytes(place.prefix + path): path for path in paths if not os.path.lexists(place.root / path)}
    for name in index.skipped(absent):
        if held.is_accepted(_text(name)):
            continue
        if held.is_about(_text(name)):
            found[absent[name]] = _held(absent[name])
            continue
        found[absent[name]] = BadPath(
            "{path} is a note of this vault that git keeps out of this folder (a sparse checkout)",
            hint="bring it here first: git sparse-checkout add FOLDER, or git sparse-checkout disable",
            path=absent[name],
        )
    return found


def check_tip(tip: "Tip", paths: Iterable[bytes]) -> None:
    """Raise `BadPath` for the first path (inside the repository) that belongs to a submodule of the last commit."""
    for path in paths:
        folder = submodule_above(tip, path)
        if folder is not None:
            raise _foreign(_text(path), _text(folder))


def submodule_above(tip: "Tip", path: bytes) -> bytes | None:
    """The submodule of the last commit that contains the path, or is the path; None if there is none."""
    for folder in (*map(_bytes, folders_above(_text(path))), path):
        entry = tip.entry(folder)
        if entry is not None and entry.mode == MODULE:
            return folder
    return None


def _private(path: str) -> BadPath:
    return BadPath(
        "{path} is kept out of git here, and others have a file of this name: what is written there would reach them",
        hint="use another path; vault-agent trust shows what is held back",
        path=path,
    )


def _held(path: str) -> BadPath:
    return BadPath(
        "{path} came from elsewhere and is held back until you have looked at it",
        hint="vault-agent trust {name}",
        path=path,
        name=shlex.quote(path),
    )


def _foreign(path: str, folder: str) -> BadPath:
    return BadPath(
        "{path} is a repository of its own (a submodule or a clone); nothing was written"
        if path == folder
        else "{path} lies in {folder}, which is a repository of its own (a submodule or a clone); nothing was written",
        hint="change it there with git, or choose a path outside of it",
        path=path,
        folder=folder,
    )


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
