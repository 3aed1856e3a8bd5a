"""`vault_log` and `vault_undo`: what changed in the vault, and the way back for a program's own changes."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from agent.clock import in_clock_zone
from agent.errors import Conflict, ToolFailed, ToolRetry, UserError
from agent.llm.messages import JsonObject
from agent.tools import arguments
from agent.tools.note_access import check_readable
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.vault.folders import WriteRule
from agent.vault.history.commits import Commit, read_commits, resolve
from agent.vault.history.difference import summary
from agent.vault.history.find import commits
from agent.vault.history.typed_time import parse_time
from agent.vault.history.undo import TOOL, Undone, undo
from agent.vault.history.undo_choice import Selection
from agent.vault.store import Vault

_GROUP = frozenset({"fs"})
_ASIDE = {TOOL, "approval"}
"""Tools of commits that are no work of a program: undos, and questions for a yes."""
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
        try:
            result = undo(vault, _selection(vault, call, context), dry_run=dry_run, actor=context.actor)
        except Conflict as error:
            raise ToolFailed(error.message) from error
        return ToolOutput("\n".join(_undone_lines(result, dry_run)), commits=tuple(filter(None, [result.commit])))

    schema = arguments.schema(
        commit={"type": "string", "minLength": 4, "maxLength": 64}, since=_TIME, dry_run={"type": "boolean"}
    )
    return Tool("vault_undo", "Take your own changes back.", schema, perform, _GROUP, timeout=0)


def _selection(vault: Vault, call: JsonObject, context: RunContext) -> Selection:
    """What is to be taken back; raises `ToolFailed` if there is nothing, or nothing of the caller's."""
    commit, since = arguments.text(call, "commit"), arguments.text(call, "since")
    if commit and since:
        raise ToolRetry("give commit or since, not both")
    if not since:
        return Selection((_own(vault, commit, context) if commit else _last(vault, context),))
    start = _time(since, vault.clock.now())
    if not context.session:
        return Selection(actor=context.actor, since=start)
    found = tuple(each.id for each in _changes_of(vault, context, start))
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
    elif not _is_of_conversation(vault, found, context):
        why = f"{name} was not made in this conversation, or has changed what steers you"
    if why:
        raise ToolFailed(f"{why}; the person can do it: vault-agent undo {found.id[:10]}")
    return commit


def _is_of_conversation(vault: Vault, commit: Commit, context: RunContext) -> bool:
    """True for a change of notes that was made in this conversation, and for any change outside of conversations."""
    notes = (each.path for each in commit.files if each.path != context.session)
    is_free = all(vault.home.write_rule(path) <= WriteRule.MEMORY for path in notes)
    return not context.session or (commit.session == context.session and is_free)


def _changes_of(vault: Vault, context: RunContext, since: datetime | None = None) -> Iterator[Commit]:
    """The changes of a program or a conversation that it may take back, newest first."""
    for each in commits(vault, actor=context.actor, since=since, limit=None if since else _LOOKED):
        if each.files and each.tool not in _ASIDE and _is_of_conversation(vault, each, context):
            yield each


def _last(vault: Vault, context: RunContext) -> str:
    """The last change of the program that is not undone."""
    for each in _changes_of(vault, context):
        if undo(vault, Selection((each.id,)), dry_run=True, partial=True).files:
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
    kept = (f"  kept: {each.about}: {each.reason}" for each in result.kept)
    return (head, *(f"  {summary(change)}" for change in result.files), *kept)
