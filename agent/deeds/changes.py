"""What was changed, by whom and why; and the way back."""

from collections.abc import Sequence
from typing import TypeAlias

from agent.app.setup import take_back_setup
from agent.config.directories import VAULT_FILE
from agent.deeds.result import ResultValue
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit
from agent.vault.history.difference import FileDifference
from agent.vault.history.undo import Undone, undo
from agent.vault.history.undo_choice import Selection
from agent.vault.store import Vault

ChangeLines: TypeAlias = Sequence[Sequence[str]]
"""For each file of a commit, the lines that describe its changes."""


class ChangedFile(ResultValue, frozen=True):
    """One file of a commit; `changes` says in words what happened in it."""

    kind: str
    path: str
    old_path: str | None
    changes: list[str]


class LoggedCommit(ResultValue, frozen=True):
    """One commit. `claims`: who it says it is by, though it was not made on this machine."""

    commit: str
    when: str
    actor: str
    author: str
    claims: str | None
    subject: str
    run: str | None
    tool: str | None
    session: str | None
    undoes: list[str]
    files: list[ChangedFile]


class ChangedLines(ChangedFile, frozen=True):
    """One changed file with git's patch."""

    patch: str


class Diff(ResultValue, frozen=True):
    """The changes of a commit; of what is not committed, if `commit` is null."""

    commit: str | None
    files: list[ChangedLines]


class UndoneFile(ResultValue, frozen=True):
    """A file as the undo has changed it."""

    kind: str
    path: str
    old_path: str | None


class About(ResultValue, frozen=True):
    """A note that was left as it is, and why."""

    path: str
    reason: str


class Skipped(ResultValue, frozen=True):
    """A commit or note that needed nothing, and why."""

    about: str
    reason: str


class UndoReport(ResultValue, frozen=True):
    """What an undo did, or would do with `dry_run`. Undo its `commit` to have the changes again."""

    commit: str | None
    dry_run: bool
    queued: str | None
    undone: list[str]
    partial: list[str]
    files: list[UndoneFile]
    kept: list[About]
    refused: list[About]
    skipped: list[Skipped]
    conflicts: list[str]
    human_commits_kept: int


def logged_commit(commit: Commit, changes: ChangeLines) -> LoggedCommit:
    """A commit with the lines about each of its files."""
    files = [ChangedFile.of(file, changes=lines) for file, lines in zip(commit.files, changes, strict=True)]
    return LoggedCommit.of(commit, commit=commit.id, files=files)


def diff_of(commit: str | None, found: Sequence[FileDifference]) -> Diff:
    """The changed files of a commit, with their patches."""
    patches = [each.patch.decode("utf-8", "replace") for each in found]
    files = [
        ChangedLines.of(each.change, changes=each.lines, patch=patch)
        for each, patch in zip(found, patches, strict=True)
    ]
    return Diff(commit, files)


def take_back(
    vault: Vault,
    selection: Selection,
    *,
    partial: bool = False,
    confirmed: bool = False,
    dry_run: bool = False,
    actor: str = HUMAN,
) -> Undone:
    """Undo the selected changes in one commit of `actor`; where the folder is no vault any more, git forgets what it
    was told of it, too. `dry_run`: only say what would happen."""
    done = undo(vault, selection, partial=partial, confirmed=confirmed, dry_run=dry_run, actor=actor)
    if not dry_run and not (vault.place.root / VAULT_FILE).exists():
        take_back_setup(vault)
    return done


def undo_report(done: Undone, dry_run: bool) -> UndoReport:
    """The result of an undo."""
    return UndoReport.of(
        done,
        dry_run=dry_run,
        files=[UndoneFile.of(each) for each in done.files],
        kept=[About.of(each, path=each.about) for each in done.kept],
        refused=[About.of(each, path=each.about) for each in done.refused],
        skipped=[Skipped.of(each) for each in done.skipped],
    )
