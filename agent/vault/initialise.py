"""Turns a folder into a vault: a repository if needed, a commit of the person's files, then the template.

Existing files are not changed. All reasons to refuse are checked before the first byte is written. The command line
chooses the template and reports the result.
"""

import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent.clock import Clock
from agent.errors import NotAVault, Retryable, UserError
from agent.vault import exclude
from agent.vault.change import Stamp
from agent.vault.folders import AGENT_NOTE
from agent.vault.options import Options
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.link_check import common_folder
from agent.vault.plumbing.repository import MARKER, Place, blocked, locate
from agent.vault.store import Vault, attach
from agent.vault.template import Left, room
from agent.vault.worktree.files import Files
from agent.vault.worktree.survey import DirtyKind, dirty, filtered

IGNORE = ".gitignore"


@dataclass(frozen=True, slots=True)
class Initialised:
    """The result of `initialise`. Paths are relative to the vault, commits are ids or None.

    `was_vault`: the folder was a vault before. `new_repository`: git was set up. `uncommitted`: files of the person
    that are in no commit yet. `nested`: repositories inside, which are not touched. `excluded`: ignore rules that were
    added to `info/exclude`.
    """

    vault: Vault
    was_vault: bool
    new_repository: bool
    created: tuple[str, ...] = ()
    left: tuple[Left, ...] = ()
    commit: str | None = None
    human_commit: str | None = None
    human_files: int = 0
    uncommitted: int = 0
    nested: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


@dataclass(slots=True)
class _Progress:
    """The results so far."""

    left: list[Left] = field(default_factory=list)
    human_commit: str | None = None
    human_files: int = 0
    excluded: list[str] = field(default_factory=list)


def initialise(
    root: Path, template: Mapping[str, bytes], state: Path, clock: Clock, options: Options, *, restore: bool = False
) -> Initialised:
    """Make `root` a vault and write the template (path in the vault to bytes); an existing vault stays as it is.

    `restore` writes the missing template files into an existing vault. Raises `NotAVault` or `UserError`, with nothing
    written, if the folder cannot be a vault, and `Retryable` while another program works on the repository.
    """
    root = root.resolve()
    was_vault = (root / MARKER).is_file()
    refuse(root, state)
    found = locate(root)
    if found is not None:
        _refuse_repository(found)
    _make_folder(root)
    place = found or _make_repository(root, options)
    vault = attach(place, state, clock, options)
    vault.settle()
    done = _Progress()
    if found is None:
        _record_what_was_there(vault, template, done)
    created: tuple[str, ...] = ()
    commit = None
    if restore or not was_vault:
        created, commit = _lay(vault, template, done)
        _ignore(vault, template, IGNORE in created, done)
    return Initialised(
        vault=vault,
        was_vault=was_vault,
        new_repository=found is None,
        created=created,
        left=tuple(done.left),
        commit=commit,
        human_commit=done.human_commit,
        human_files=done.human_files,
        uncommitted=len(dirty(vault.git, place)),
        nested=nested(vault.git, place),
        excluded=tuple(done.excluded),
    )


def refuse(root: Path, state: Path) -> None:
    """Raise `UserError` or `NotAVault` if this folder cannot be a vault, whatever its repository; writes nothing."""
    if os.path.lexists(root) and not root.is_dir():
        raise UserError(f"{root} is a file, not a folder", hint="name a folder, or a path that is still free")
    if any(unicodedata.normalize("NFKC", part).casefold() == ".git" for part in root.parts):
        raise UserError(f"{root} is inside a repository's own files", hint="choose another folder")
    above = next((folder for folder in root.parents if (folder / MARKER).is_file()), None)
    if above is not None:
        raise UserError(f"{root} lies in the vault {above}", hint=f"vault-agent --vault {above} status")
    if state.resolve().is_relative_to(root):
        raise UserError(
            f"vault-agent keeps its own files in {state}, which lies in {root}",
            hint="choose a folder for notes only, or set VAULT_AGENT_HOME to a folder outside",
        )
    for folder in (root, *root.parents):
        if _is_bare(folder):
            raise NotAVault(f"{folder} is a bare repository, which has no files", hint="clone it and use the clone")
    pointer = root / ".git"
    if pointer.is_dir() and not pointer.is_symlink() and not (pointer / "HEAD").exists():
        raise NotAVault(f"{pointer} is not a whole repository", hint="move it away, then repeat the command")
    existing = next((folder for folder in (root, *root.parents) if folder.exists()), root)
    if not os.access(existing, os.W_OK | os.X_OK):
        raise UserError(
            f"no permission to write in {existing}", hint="change the folder's permissions, or choose another"
        )


def _is_bare(folder: Path) -> bool:
    is_store = (folder / "objects").is_dir() and (folder / "refs").is_dir() and (folder / "HEAD").is_file()
    return is_store and not os.path.lexists(folder / ".git")


def _refuse_repository(place: Place) -> None:
    reason = blocked(place.gitdir)
    if reason:
        raise UserError(f"{place.worktree}: {reason}", hint="finish that first (git status says how), then repeat")
    if not os.access(place.gitdir, os.W_OK | os.X_OK):
        raise UserError(f"no permission to write in {place.gitdir}", hint="change the folder's permissions")
    if not place.prefix:
        return
    git = Git(place.gitdir, place.worktree)
    if _ignored(git, place, [AGENT_NOTE]):
        raise UserError(
            f"the repository {place.worktree} ignores {place.prefix}",
            hint=f"take it out of the ignore rules, or give the folder its own repository: git init {place.root}",
        )


def _make_folder(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{root} cannot be made: {error.strerror}", hint="choose another folder") from error


def _make_repository(root: Path, options: Options) -> Place:
    place = Place(root, root / ".git", root)
    git = Git(place.gitdir, place.worktree, durable=options.durable, timeout=options.timeout_seconds)
    # No template: a vault gets none of the hooks that this machine puts into new repositories.
    git.run("init", "-q", "--template=", "--initial-branch=main")
    return place


def _record_what_was_there(vault: Vault, template: Mapping[str, bytes], done: _Progress) -> None:
    """Commit everything in the folder in the person's name, except ignored files."""
    wanted = exclude.missing(template.get(IGNORE, b""), vault.read(IGNORE) or b"")
    done.excluded = exclude.add(common(vault), wanted, vault.clock.new_id())
    files = [item.path for item in dirty(vault.git, vault.place) if item.kind is DirtyKind.CREATED]
    aside = filtered(vault.git, vault.place, files)
    done.left += [Left(path, "a git filter handles it: git add it yourself") for path in sorted(aside)]
    count = len(files) - len(aside)
    if not count:
        return
    noun = "file" if count == 1 else "files"
    outcome = vault.commit_human(confirmed=True, subject=f"human(notes): the vault as it was, {count} {noun}")
    if outcome.queued:
        raise Retryable(f"your files are not committed yet: {outcome.queued}", hint="repeat the command")
    done.human_commit, done.human_files = outcome.human, len(outcome.paths)


def _lay(vault: Vault, template: Mapping[str, bytes], done: _Progress) -> tuple[tuple[str, ...], str | None]:
    """Write the template files that can be written, in one commit."""
    lay, left = room(vault.place.root, template, _modules(vault.git, vault.place))
    done.left += left
    for path in _ignored(vault.git, vault.place, [path for path in lay if path != MARKER]):
        done.left.append(Left(path, "your ignore rules leave it out"))
        del lay[path]
    if not lay:
        return (), None
    stamp = Stamp("agent", tool="init")
    noun = "file" if len(lay) == 1 else "files"
    with vault.transaction(f"init(vault): lay the template, {len(lay)} {noun}", stamp, system=True) as transaction:
        for path, data in lay.items():
            transaction.create(path, data)
    outcome = transaction.outcome
    if outcome.queued:
        raise Retryable(f"the template is not laid yet: {outcome.queued}", hint="repeat the command")
    return tuple(sorted(outcome.paths)), outcome.commit


def _ignore(vault: Vault, template: Mapping[str, bytes], laid: bool, done: _Progress) -> None:
    """Add missing rules to `info/exclude` if `.gitignore` is the person's; not needed if it is the template's."""
    files, token = common(vault), vault.clock.new_id()
    if laid:
        exclude.take_out(files, done.excluded, token)
        done.excluded = []
        return
    prefix = vault.place.prefix
    wanted = exclude.missing(template.get(IGNORE, b""), vault.read(IGNORE) or b"")
    done.excluded += exclude.add(files, [exclude.under(prefix, rule) for rule in wanted], token)


def _ignored(git: Git, place: Place, paths: Sequence[str]) -> list[str]:
    """The paths that git ignores."""
    asked = b"".join(place.in_git(path) + b"\0" for path in paths)
    return place.in_vault(git.fields("--no-literal-pathspecs", "check-ignore", "-z", "--stdin", stdin=asked, ok=(0, 1)))


def common(vault: Vault) -> Files:
    """The folder that all work trees of the repository share (hooks, `info`), as `Files`."""
    return Files(common_folder(vault.place.gitdir), vault.clock, vault.options.durable)


def nested(git: Git, place: Place) -> tuple[str, ...]:
    """The folders in the vault that are repositories of their own, submodules included."""
    command = ["ls-files", "-z", "--others", "--exclude-standard"]
    listed = git.fields(*command, *place.pathspec)
    folders = [name.removeprefix(place.prefix).rstrip("/") for name in listed if name.endswith("/")]
    found = [name for name in folders if name and os.path.lexists(place.root / name / ".git")]
    return tuple(sorted({*found, *_modules(git, place)}))


def _modules(git: Git, place: Place) -> Sequence[str]:
    """The folders that are submodules of the repository."""
    rows = git.fields("ls-files", "-z", "--stage", *place.pathspec)
    return place.in_vault(row.partition("\t")[2] for row in rows if row.startswith("160000 "))
