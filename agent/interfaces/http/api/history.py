"""What was changed, by whom and why; and the way back."""

from typing import Annotated

import msgspec

from agent.deeds.changes import Diff, LoggedCommit, UndoReport, diff_of, logged_commit, take_back, undo_report
from agent.deeds.result import ResultValue
from agent.errors import UserError
from agent.interfaces.http.operation import (
    ACTOR,
    NEXT,
    PATH_FORM,
    ListPage,
    Routes,
    TypedReply,
    cursor_after,
    parse_cursor,
)
from agent.vault.history.commits import resolve
from agent.vault.history.difference import describe, of_commit, of_working_tree
from agent.vault.history.find import commits
from agent.vault.history.typed_time import parse_time
from agent.vault.history.undo_choice import Selection
from agent.vault.worktree.paths import check_inside
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/v1")
Time = Annotated[str, msgspec.Meta(max_length=60, description="2h, 30m, 1d, today, 2026-11-21 or 2026-11-21T14:30.")]
Path = Annotated[str, msgspec.Meta(max_length=3_000, extra_json_schema=dict(PATH_FORM))]
Name = Annotated[str, msgspec.Meta(max_length=200)]


class Log(ResultValue, frozen=True):
    """The commits, newest first."""

    commits: list[LoggedCommit]
    next_cursor: NEXT


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


@ROUTES.get("/log", "The changes: who, when, why and what")
def log(
    workspace: Workspace,
    page: ListPage,
    path: Path = "",
    actor: Name = "",
    run: Name = "",
    job: Name = "",
    since: Time = "",
    until: Time = "",
) -> Log:
    """The commits of the vault, newest first."""
    now = workspace.clock.now()
    place = parse_cursor(page.cursor) if page.cursor else None
    start = place.number if place else 0
    found = commits(
        workspace.vault,
        actor=actor or None,
        run=run or None,
        job=job or None,
        path=check_inside(path.strip("/")) if path.strip("/") else None,
        since=parse_time(since, now) if since else None,
        until=parse_time(until, now, end=True) if until else None,
        limit=start + page.limit + _NEWER,
    )
    if place is not None:  # commits that came meanwhile stand before the place
        ids = [each.id for each in found]
        start = ids.index(place.key) + 1 if place.key in ids else start
    rows = found[start : start + page.limit]
    described = iter(describe(workspace.vault, [change for commit in rows for change in commit.files]))
    entries = [logged_commit(each, [next(described) for _ in each.files]) for each in rows]
    end = start + len(rows)
    after = cursor_after(end, rows[-1].id) if rows and end < len(found) else None
    return Log(entries, after)


_NEWER = 100
"""The commits that may come between two pages without a gap."""


@ROUTES.get("/diff", "What a change did to the notes")
def diff(workspace: Workspace, commit: Name = "", path: Path = "") -> Diff:
    """What a commit changed, or what is not committed yet."""
    vault = workspace.vault
    oid = resolve(vault, commit) if commit else None
    found = of_working_tree(vault) if oid is None else of_commit(vault, oid)
    place = check_inside(path.strip("/")) if path.strip("/") else ""
    return diff_of(oid, [each for each in found if each.is_in(place)])


@ROUTES.post("/undo", "Take changes back and keep later edits", 202, 404, 409)
def undo(workspace: Workspace, asked: Undoing) -> TypedReply[UndoReport]:
    """Take changes back and keep later edits; the undo is a commit of its own."""
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
    done = take_back(
        workspace.vault, selection, partial=asked.partial, confirmed=asked.yes, dry_run=asked.dry_run, actor=ACTOR
    )
    return TypedReply(undo_report(done, asked.dry_run), status=202 if done.queued else 0)
