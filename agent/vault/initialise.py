"""Turns a folder into a vault: a repository if needed, a commit of the person's files, then the template.

Existing files are not changed. All reasons to refuse are checked before the first byte is written. The command line
chooses the template and reports the result.
"""

import os
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from itertools import islice
from pathlib import Path

from agent.clock import Clock
from agent.config import durable
from agent.dataclass import dataclass
from agent.errors import NotAVault, Retryable, UserError, os_reason
from agent.git.gitdir_pointer import OWNER, is_adopted
from agent.git.identities import Person, person
from agent.git.repository import MARKER, Place, blocked, common_folder, locate
from agent.git.runner import Git
from agent.texts import Sentence, translated
from agent.vault import exclude
from agent.vault.change import Stamp
from agent.vault.drafts import Drafts, drafts_file, save_drafts, save_older
from agent.vault.folders import AGENT_NOTE, FOLDERS, INBOX, AgentFolder
from agent.vault.layout import settle_home
from agent.vault.options import Options
from agent.vault.store import Vault, attach
from agent.vault.template import Left, room
from agent.vault.worktree.files import Files
from agent.vault.worktree.paths import is_note
from agent.vault.worktree.survey import Dirty, DirtyKind, dirty, filtered
from agent.vault.write.left_out import draft_id, left_out

MOST_COUNTED = 10_000
"""The most files of a folder that are counted for a message."""


@dataclass(frozen=True, slots=True)
class Initialised:
    """The result of `initialise`. Paths are relative to the vault, commits are ids or None.

    `was_vault`: the folder was a vault before. `new_repository`: git was set up. `uncommitted`: files of the person
    that are in no commit yet, without those that are left out of commits. `nested`: repositories inside, which are not
    touched. `excluded`: ignore rules that were added to `info/exclude`. `known_person`: git knows the person's name and
    address.
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
    known_person: bool = True


@dataclass(slots=True)
class _Progress:
    """The results so far."""

    left: list[Left] = field(default_factory=list)
    human_commit: str | None = None
    human_files: int = 0
    excluded: list[str] = field(default_factory=list)


def initialise(
    root: Path,
    template: Mapping[str, bytes],
    state: Path,
    clock: Clock,
    options: Options,
    *,
    ignore: bytes = b"",
    restore: bool = False,
    author: Person | None = None,
) -> Initialised:
    """Make `root` a vault and write the template (path in the vault to bytes); an existing vault stays as it is.

    Nothing is laid into a folder that has files already. What the person has not committed becomes their drafts: it
    stays so until they change or commit it. `ignore` are rules for files that come and go, which git shall not follow.
    `restore` writes the missing template files into an existing vault.
    `author` becomes the person's name in the repository's settings. Raises `NotAVault` or `UserError`, with nothing
    written, if the folder cannot be a vault, and `Retryable` while another program works on the repository.
    """
    root = root.resolve()
    was_vault = (root / MARKER).is_file()
    refuse(root, state)
    found = locate(root, adopting=True)
    if found is not None:
        refuse_repository(found)
    _make_folder(root)
    place = found or _make_repository(root, options)
    _point_back(place)
    vault = attach(place, state, clock, options)
    vault.settle()
    settle_home(vault.writer.layout, root, options)
    if author is not None:
        _sign_as(vault.git, author)
    done = _Progress(excluded=keep_passing_files_out(vault, ignore))
    if found is None:
        _record_what_was_there(vault, done)
    elif not was_vault:
        keep_as_drafts(vault)
        _remember_inbox(vault)
    created: tuple[str, ...] = ()
    commit = None
    if restore or not was_vault:
        created, commit = _lay(vault, template, done)
        _make_inbox(root, options.home)
    return Initialised(
        vault=vault,
        was_vault=was_vault,
        new_repository=found is None,
        created=created,
        left=tuple(done.left),
        commit=commit,
        human_commit=done.human_commit,
        human_files=done.human_files,
        uncommitted=len(uncommitted(vault)),
        nested=nested(vault.git, place),
        excluded=tuple(done.excluded),
        known_person=bool(person(vault.git).email),
    )


def _sign_as(git: Git, author: Person) -> None:
    git.run("config", "--local", "user.name", author.name)
    git.run("config", "--local", "user.email", author.email)


def uncommitted(vault: Vault) -> list[Dirty]:
    """The person's changes that are in no commit yet, without the files that are left out of commits."""
    changed = vault.changed_files()
    out = left_out(vault.git, vault.writer.files, vault.options, changed)
    return [item for item in changed if item.path not in out]


def keep_as_drafts(vault: Vault, *, ask: bool = False) -> None:
    """Leave the person's present changes uncommitted until they change or commit them; `ask`: ask them again."""
    files = {
        item.path: draft_id(vault.git, vault.writer.files, item)
        for item in uncommitted(vault)
        if item.kind not in {DirtyKind.STAGED, DirtyKind.UNMERGED}
    }
    save_drafts(drafts_file(vault.private_folder), Drafts(files, ask))


def _remember_inbox(vault: Vault) -> None:
    """Remember the notes in `inbox/` that are in no commit: later nothing shows that they were there before."""
    changed = [item.path for item in vault.changed_files() if is_note(item.path)]
    paths = [path for path in changed if vault.home.holds(path, INBOX)]
    save_older(vault.private_folder, {path: data for path in paths if (data := vault.read(path)) is not None})


def taken_folders(root: Path, home: AgentFolder, *names: str, least: int = 1) -> dict[str, int]:
    """The folders below `root` that the agent takes for its own of these names (all, without any), as they are spelled
    there, and how many files each has; without those that have fewer than `least`."""
    wanted = names or tuple(row.path for row in FOLDERS if "/" in row.path)
    ours = {home.at(name.partition("/")[0]).casefold() for name in wanted}
    above = root / home.path
    there = sorted(each.name for each in above.iterdir()) if above.is_dir() else []
    found = {home.at(name): _files_in(above / name) for name in there if home.at(name).casefold() in ours}
    return {name: count for name, count in found.items() if count >= least and (root / name).is_dir()}


def _files_in(folder: Path) -> int:
    if not folder.is_dir() or folder.is_symlink() or os.path.lexists(folder / ".git"):
        return 0
    found = (name for _, _, names in os.walk(folder) for name in names if not name.startswith("."))
    return sum(1 for _ in islice(found, MOST_COUNTED))


def refuse(root: Path, state: Path) -> None:
    """Raise `UserError` or `NotAVault` if this folder cannot be a vault, whatever its repository; writes nothing."""
    if os.path.lexists(root) and not root.is_dir():
        raise UserError("{root} is a file, not a folder", hint="name a folder, or a path that is still free", root=root)
    if any(unicodedata.normalize("NFKC", part).casefold() == ".git" for part in root.parts):
        raise UserError("{root} is inside a repository's own files", hint="choose another folder", root=root)
    above = next((folder for folder in root.parents if (folder / MARKER).is_file()), None)
    if above is not None:
        raise UserError(
            "{root} lies in the vault {above}", hint="vault-agent --vault {above} status", root=root, above=above
        )
    if state.resolve().is_relative_to(root):
        raise UserError(
            "vault-agent keeps its own files in {state}, which lies in {root}",
            hint="choose a folder for notes only, or set VAULT_AGENT_HOME to a folder outside",
            state=state,
            root=root,
        )
    for folder in (root, *root.parents):
        if _is_bare(folder):
            raise NotAVault(
                "{folder} is a bare repository, which has no files", hint="clone it and use the clone", folder=folder
            )
    pointer = root / ".git"
    if pointer.is_dir() and not pointer.is_symlink() and not (pointer / "HEAD").exists():
        raise NotAVault(
            "{pointer} is not a whole repository", hint="move it away, then repeat the command", pointer=pointer
        )
    existing = next((folder for folder in (root, *root.parents) if folder.exists()), root)
    if not os.access(existing, os.W_OK | os.X_OK):
        raise UserError(
            "no permission to write in {existing}",
            hint="change the folder's permissions, or choose another",
            existing=existing,
        )


def _is_bare(folder: Path) -> bool:
    is_store = (folder / "objects").is_dir() and (folder / "refs").is_dir() and (folder / "HEAD").is_file()
    return is_store and not os.path.lexists(folder / ".git")


def refuse_repository(place: Place) -> None:
    """Raise `UserError` if this repository cannot have a vault now, at this place; writes nothing."""
    reason = blocked(place.gitdir)
    if reason:
        raise UserError(
            "{worktree}: {reason}",
            hint="finish that first (git status says how), then repeat",
            worktree=place.worktree,
            reason=Sentence(reason),
        )
    if not os.access(place.gitdir, os.W_OK | os.X_OK):
        raise UserError(
            "no permission to write in {gitdir}", hint="change the folder's permissions", gitdir=place.gitdir
        )
    _refuse_other_files(place)
    if not place.prefix:
        return
    git = Git(place.gitdir, place.worktree)
    if _ignored(git, place, [AGENT_NOTE]):
        raise UserError(
            "the repository {worktree} ignores {prefix}",
            hint="take it out of the ignore rules, or give the folder its own repository: git init {root}",
            worktree=place.worktree,
            prefix=place.prefix,
            root=place.root,
        )


def _refuse_other_files(place: Place) -> None:
    """Raise `UserError` if a repository elsewhere, which does not point back, has mostly files that are not here."""
    if is_adopted(place.gitdir, place.worktree):
        return
    git = Git(place.gitdir, place.worktree)
    listed = git.fields("ls-files", "-z") or git.fields("ls-tree", "-r", "-z", "--name-only", "HEAD", ok=(0, 128))
    there = sum(os.path.lexists(place.worktree / name) for name in listed)
    if there * 2 < len(listed):
        raise UserError(
            "{pointer} points to {gitdir}, whose files are not in this folder",
            hint="use the folder that belongs to it, or give this one its own repository",
            pointer=place.worktree / ".git",
            gitdir=place.gitdir,
        )


def _point_back(place: Place) -> None:
    """Write down, in a repository elsewhere, that this folder's `.git` is the one that leads to it."""
    if not is_adopted(place.gitdir, place.worktree):
        durable.replace(place.gitdir / OWNER, f"{place.worktree.resolve() / '.git'}\n")


def _make_folder(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            "{root} cannot be made: {reason}", hint="choose another folder", root=root, reason=os_reason(error)
        ) from error


def _make_repository(root: Path, options: Options) -> Place:
    place = Place(root, root / ".git", root)
    git = Git(place.gitdir, place.worktree, durable=options.durable, timeout=options.timeout_seconds)
    # No template: a vault gets none of the hooks that this machine puts into new repositories.
    git.run("init", "-q", "--template=", "--initial-branch=main")
    return place


def _record_what_was_there(vault: Vault, done: _Progress) -> None:
    """Commit everything in the folder in the person's name, except ignored files."""
    files = [item.path for item in dirty(vault.git, vault.place) if item.kind is DirtyKind.CREATED]
    out = left_out(vault.git, vault.writer.files, vault.options, dirty(vault.git, vault.place))
    done.left += [
        Left(path, Sentence("not committed: {reason}", reason=Sentence(why))) for path, why in sorted(out.items())
    ]
    files = [path for path in files if path not in out]
    aside = filtered(vault.git, vault.place, files)
    done.left += [Left(path, "a git filter handles it: git add it yourself") for path in sorted(aside)]
    count = len(files) - len(aside)
    if not count:
        return
    one, more = "human(notes): the vault as it was, 1 file", "human(notes): the vault as it was, {count} files"
    subject = translated(one if count == 1 else more, vault.options.language, count=count)
    outcome = vault.commit_human(confirmed=True, subject=subject)
    if outcome.queued:
        raise Retryable(
            "your files are not committed yet: {queued}", hint="repeat the command", queued=Sentence(outcome.queued)
        )
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
    one, more = "init(vault): added 1 file", "init(vault): added {count} files"
    subject = Sentence(one) if len(lay) == 1 else Sentence(more, count=len(lay))
    with vault.transaction(subject, stamp, system=True) as transaction:
        for path, data in lay.items():
            transaction.create(path, data)
    outcome = transaction.outcome
    if outcome.queued:
        raise Retryable(
            "the template is not laid yet: {queued}", hint="repeat the command", queued=Sentence(outcome.queued)
        )
    return tuple(sorted(outcome.paths)), outcome.commit


def keep_passing_files_out(vault: Vault, ignore: bytes) -> list[str]:
    """Add the rules of `ignore` that the person's `.gitignore` lacks to the repository's own `info/exclude`, which is
    neither part of the vault nor pushed; returns those that were added."""
    wanted = exclude.missing(ignore, vault.read(".gitignore") or b"")
    rules = [exclude.under(vault.place.prefix, rule) for rule in wanted]
    return exclude.add(common(vault), rules, vault.clock.new_id())


def let_passing_files_in(vault: Vault, ignore: bytes) -> None:
    """Take the rules that `keep_passing_files_out` adds out of `info/exclude`."""
    rules = [exclude.under(vault.place.prefix, rule) for rule in exclude.rules(ignore)]
    exclude.take_out(common(vault), rules, vault.clock.new_id())


def _make_inbox(root: Path, home: AgentFolder) -> None:
    """Make the folder for requests, unless there is one in any spelling; git does not know of an empty folder."""
    if not taken_folders(root, home, INBOX, least=0):
        with suppress(OSError):
            (root / home.at(INBOX)).mkdir(parents=True)


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
