"""`vault_log` and `vault_undo`: what changed in the vault, and the way back for a program's own changes."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from agent.clock import in_clock_zone
from agent.errors import Conflict, ToolFailed, ToolRetry, UserError
from agent.llm.messages import JsonObject
from agent.tools import arguments
from agent.tools.note_access import check_readable
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.vault.change import CAPTURE
from agent.vault.folders import WriteRule
from agent.vault.history.commits import Commit, read_commits, resolve, work_of
from agent.vault.history.difference import summary
from agent.vault.history.find import commits
from agent.vault.history.typed_time import parse_time
from agent.vault.history.undo import TOOL, Undone, undo
from agent.vault.history.undo_choice import Selection
from agent.vault.store import Vault
from agent.vault.waiting import commit_work

_GROUP = frozenset({"fs"})
_ASIDE = {TOOL, "approval", CAPTURE}
"""Tools of commits that are no work of a program: undos, questions for a yes, and the record of the conversation."""
_LISTED, _MOST, _FILES, _LOOKED = 10, 200, 8, 50
_NOTHING = "there is nothing of yours to take back"
_TIME: JsonObject = {"type": "string", "minLength": 1, "maxLength": 40}


def log_tool(vault: Vault) -> Tool:
    """`vault_log`, which lists changes, newest first; for the owner only."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        if context.role != "owner":
            raise ToolRetry("the history is for the owner of this vault only")
        path, since = arguments.text(call, "path"), arguments.text(call, "since")
        found = commits(
            vault,
            path=check_readable(path.rstrip("/")) if path else None,
            actor=arguments.text(call, "actor") or None,
            since=_time(since, vault.clock.now()) if since else None,
            limit=arguments.number(call, "limit", _LISTED),
        )
        if not found:
            return ToolOutput("no change fits")
        others = vault.provenance.made_by_others([each.id for each in found])
        lines = [line for each in found for line in _commit_lines(each, vault.clock.now())]
        return ToolOutput("\n".join(lines), untrusted="commits that others made" if others else "")

    schema = arguments.schema(
        path={"type": "string", "maxLength": 1_000, "description": "a note or folder"},
        actor={"type": "string", "maxLength": 120, "description": "human, agent or job:<id>"},
        since=_TIME,
        limit={"type": "integer", "minimum": 1, "maximum": _MOST},
    )
    description = "List what changed in the vault and when: the history of a note or a folder, since a day."
    return Tool("vault_log", description, schema, perform, _GROUP, readonly=True, seldom=True)


def _commit_lines(commit: Commit, now: datetime) -> Iterator[str]:
    who = f"{commit.author} (a commit from elsewhere)" if commit.claims else commit.actor
    yield f"{commit.id[:10]} {in_clock_zone(commit.when, now):%Y-%m-%d %H:%M} {who}: {commit.subject}"
    yield from (f"  {summary(change)}" for change in commit.files[:_FILES])
    if len(commit.files) > _FILES:
        yield f"  and {len(commit.files) - _FILES} more"


def undo_tool(vault: Vault) -> Tool:
    """`vault_undo`, which takes back changes of the program or the conversation that calls it, and of nobody else."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        dry_run = call.get("dry_run") is True
        commit_work(vault, lambda note: note.stamp.session == context.session)
        try:
            result = undo(vault, _selection(vault, call, context), dry_run=dry_run, actor=context.actor)
        except Conflict as error:
            raise ToolFailed(error.message) from error
        return ToolOutput("\n".join(_undone_lines(result, dry_run)), is_changed=bool(result.commit))

    schema = arguments.schema(
        commit={"type": "string", "minLength": 4, "maxLength": 64}, since=_TIME, dry_run={"type": "boolean"}
    )
    return Tool("vault_undo", "Take your own changes back.", schema, perform, _GROUP, timeout=0)


def _selection(vault: Vault, call: JsonObject, context: RunContext) -> Selection:
    """The selection to take back; raises `ToolFailed` if there is nothing, or nothing of the caller's."""
    commit, since = arguments.text(call, "commit"), arguments.text(call, "since")
    if commit and since:
        raise ToolRetry("give commit or since, not both")
    if not since:
        return Selection((_own(vault, commit, context) if commit else _last(vault, context),))
    start = _time(since, vault.clock.now())
    if not context.session:
        return Selection(actor=context.actor, since=start)
    found = tuple(each.id for each in _changes_of(vault, context, start) if not _steers(vault, each))
    if not found:
        raise ToolFailed(_NOTHING)
    return Selection(found)


def _own(vault: Vault, name: str, context: RunContext) -> str:
    """The full id of a commit of the program; raises `ToolFailed` for anybody else's."""
    try:
        commit = resolve(vault, name)
    except UserError as error:
        raise ToolRetry(f"{error.message}; log lists the commits") from error
    listed = read_commits(vault, [commit])
    if not listed:
        raise ToolRetry(f"there is no commit {name}; log lists the commits")
    found, why = listed[0], ""
    if found.actor != context.actor:
        why = f"{name} was made by {found.actor}, and only your own changes ({context.actor}) can be taken back here"
    elif context.session and found.session != context.session:
        why = f"{name} was not made in this conversation"
    elif found.tool == CAPTURE and not found.work:
        why = f"{name} is the record of this conversation"
    elif context.session and _steers(vault, found):
        why = f"{name} has changed what steers you"
    if why:
        raise _persons(found, why)
    return commit


def _persons(commit: Commit, why: str) -> ToolFailed:
    return ToolFailed(f"{why}; the person can do it: vault-agent undo {commit.id[:10]}")


def _steers(vault: Vault, commit: Commit) -> bool:
    """True for a change of more than notes and memories, such as that of a job."""
    files = work_of(commit).files or commit.files
    return any(vault.home.write_rule(each.path) > WriteRule.MEMORY for each in files)


def _changes_of(vault: Vault, context: RunContext, since: datetime | None = None) -> Iterator[Commit]:
    """The changes of a program, or those made in a conversation, newest first."""
    for each in commits(vault, actor=context.actor, since=since, limit=None if since else _LOOKED):
        is_work = bool(each.work) or each.tool not in _ASIDE
        if each.files and is_work and (not context.session or each.session == context.session):
            yield each


def _last(vault: Vault, context: RunContext) -> str:
    """The last change of the program that is not undone; raises `ToolFailed` if only the person may take it back, as
    an older one in its place is not what was meant."""
    for each in _changes_of(vault, context):
        if undo(vault, Selection((each.id,)), dry_run=True, partial=True).files:
            if context.session and _steers(vault, each):
                raise _persons(each, f"your last change ({each.subject}) has changed what steers you")
            return each.id
    raise ToolFailed(_NOTHING)


def _time(text: str, now: datetime) -> datetime:
    try:
        return parse_time(text, now)
    except UserError as error:
        raise ToolRetry(f"{error.message}; {error.hint}") from error


def _undone_lines(result: Undone, dry_run: bool) -> Sequence[str]:
    if not result.files:
        return ("nothing to take back", *(f"  {each.about}: {each.reason}" for each in result.skipped))
    if dry_run:
        head = "would take back; nothing is changed yet:"
    elif result.queued:
        head = f"accepted, and waiting: {result.queued}"
    else:
        head = f"taken back in commit {(result.commit or '')[:10]}:"
    unchanged = (f"  kept: {each.about}: {each.reason}" for each in result.kept)
    return (head, *(f"  {summary(change)}" for change in result.files), *unchanged)
