"""What was changed, by whom and why; and the way back."""

from typing import Annotated

import msgspec

from agent.errors import UserError
from agent.interfaces.http.api.paging import NEXT, ListParams, cursor_after, parse_cursor
from agent.interfaces.http.api.typed import typed
from agent.interfaces.http.operation import ACTOR, Call, NoParams, Operation, TypedReply
from agent.runs.waiting_conversations import end_waiting_of_run
from agent.vault.history.commit_document import commit_document, difference_document
from agent.vault.history.commits import resolve
from agent.vault.history.difference import describe, of_commit, of_working_tree
from agent.vault.history.find import commits
from agent.vault.history.typed_time import parse_time
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from agent.vault.history.undo_document import undone_document
from agent.vault.worktree.paths import check_inside

Time = Annotated[str, msgspec.Meta(max_length=60, description="2h, 30m, 1d, today, 2026-11-21 or 2026-11-21T14:30.")]
Path = Annotated[str, msgspec.Meta(max_length=3_000)]
Name = Annotated[str, msgspec.Meta(max_length=200)]


class LogParams(ListParams, frozen=True, forbid_unknown_fields=True):
    """The commits that fit all of this: a note (its renames are followed) or folder, an actor, a run, a job, a time."""

    path: Path = ""
    actor: Name = ""
    run: Name = ""
    job: Name = ""
    since: Time = ""
    until: Time = ""


class ChangedFile(msgspec.Struct, frozen=True):
    """One file of a commit; `changes` says in words what happened in it."""

    kind: str
    path: str
    old_path: str | None
    changes: list[str]


class LoggedCommit(msgspec.Struct, frozen=True):
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


class Log(msgspec.Struct, frozen=True):
    """The commits, newest first."""

    commits: list[LoggedCommit]
    next_cursor: NEXT


class DiffParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A commit, or what is not committed yet; only one note or folder."""

    commit: Name = ""
    path: Path = ""


class ChangedLines(ChangedFile, frozen=True):
    """One changed file with git's patch."""

    patch: str


class Diff(msgspec.Struct, frozen=True):
    """The changes of a commit; of what is not committed, if `commit` is null."""

    commit: str | None
    files: list[ChangedLines]


class Undoing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to undo, one of: `commits`, a `run`, a `job` or `actor`, everything `since` a time (a job or actor may have
    one). `partial`: undo what can be undone; `yes`: also when many notes would go."""

    commits: Annotated[list[Name], msgspec.Meta(max_length=200)] = msgspec.field(default_factory=list)
    run: Name = ""
    job: Name = ""
    actor: Name = ""
    since: Time = ""
    include_human: bool = False
    partial: bool = False
    dry_run: bool = False
    yes: bool = False


class UndoneFile(msgspec.Struct, frozen=True):
    """A file as the undo has changed it."""

    kind: str
    path: str
    old_path: str | None


class About(msgspec.Struct, frozen=True):
    """A note that was left as it is, and why."""

    path: str
    reason: str


class Skipped(msgspec.Struct, frozen=True):
    """A commit or note that needed nothing, and why."""

    about: str
    reason: str


class UndoReport(msgspec.Struct, frozen=True):
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
    not_remembered: list[str]


def log(call: Call[LogParams, None]) -> Log:
    """The commits of the vault, newest first."""
    asked, workspace = call.params, call.service.workspace
    now = workspace.clock.now()
    place = parse_cursor(asked.cursor) if asked.cursor else None
    start = place.number if place else 0
    found = commits(
        workspace.vault,
        actor=asked.actor or None,
        run=asked.run or None,
        job=asked.job or None,
        path=check_inside(asked.path.strip("/")) if asked.path.strip("/") else None,
        since=parse_time(asked.since, now) if asked.since else None,
        until=parse_time(asked.until, now, end=True) if asked.until else None,
        limit=start + asked.limit + _NEWER,
    )
    if place is not None:  # commits that came meanwhile stand before the place
        ids = [each.id for each in found]
        start = ids.index(place.key) + 1 if place.key in ids else start
    shown = found[start : start + asked.limit]
    described = iter(describe(workspace.vault, [change for commit in shown for change in commit.files]))
    entries = [commit_document(each, [next(described) for _ in each.files]) for each in shown]
    end = start + len(shown)
    after = cursor_after(end, shown[-1].id) if shown and end < len(found) else None
    return Log(typed(entries, list[LoggedCommit]), after)


_NEWER = 100
"""The commits that may come between two pages without a gap."""


def diff(call: Call[DiffParams, None]) -> Diff:
    """What a commit changed, or what is not committed yet."""
    asked, vault = call.params, call.service.workspace.vault
    oid = resolve(vault, asked.commit) if asked.commit else None
    found = of_working_tree(vault) if oid is None else of_commit(vault, oid)
    path = check_inside(asked.path.strip("/")) if asked.path.strip("/") else ""
    files = [difference_document(each) for each in found if each.is_in(path)]
    return Diff(oid, typed(files, list[ChangedLines]))


def undo_changes(call: Call[NoParams, Undoing]) -> TypedReply[UndoReport]:
    """Take changes back and keep later edits; the undo is a commit of its own."""
    asked, workspace = call.body, call.service.workspace
    chosen = (bool(asked.commits), bool(asked.run), bool(asked.job or asked.actor or asked.since))
    if sum(chosen) != 1 or (asked.job and asked.actor) or (asked.include_human and (not asked.since or asked.job)):
        raise UserError(
            "say what to undo: commits, run, job, actor or since, one of them",
            hint="job and actor may come with since, and include_human with since alone",
        )
    start = parse_time(asked.since, workspace.clock.now()) if asked.since else None
    selection = Selection(
        tuple(asked.commits), asked.run, (asked.job,) if asked.job else (), start, asked.include_human, asked.actor
    )
    done = undo(
        workspace.vault, selection, partial=asked.partial, confirmed=asked.yes, dry_run=asked.dry_run, actor=ACTOR
    )
    unkept = end_waiting_of_run(workspace, asked.run, dry_run=asked.dry_run) if asked.run else ()
    document = {**undone_document(done, asked.dry_run), "not_remembered": list(unkept)}
    return TypedReply(typed(document, UndoReport), status=202 if done.queued else 0)


OPERATIONS = (
    Operation("GET", "/api/v1/log", "log", "The changes: who, when, why and what", log, Log, LogParams),
    Operation("GET", "/api/v1/diff", "diff", "What a change did to the notes", diff, Diff, DiffParams),
    Operation("POST", "/api/v1/undo", "undo", "Take changes back and keep later edits", undo_changes, UndoReport,
              NoParams, Undoing, 200, (202, 404, 409)),
)  # fmt: skip
