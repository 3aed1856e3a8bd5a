"""`vault-agent status`: how the vault stands, without touching anything."""

from collections.abc import Mapping, Sequence

import click

from agent.app.alone import last_word
from agent.app.arrivals import ArrivalState, arrival_state, counted
from agent.app.build import build
from agent.app.coverage import IndexState, index_state
from agent.app.standing import Standing, standing
from agent.config.running import Spend
from agent.interfaces.cli import today
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.vault.health.status import VaultStatus, status
from agent.vault.worktree.survey import DirtyKind

_SHOWN = 10


@click.command(short_help="Show what is saved, what waits, and what needs you.")
@click.option("--notes", is_flag=True, help="Name every note that search does not find in full, and why.")
@click.pass_obj
def command(output: Output, notes: bool) -> None:
    """Show the last commit, what is not committed, what waits and why, conflicts, the daemon, index, agent and day."""
    app = build(output.vault())
    found = status(app.vault)
    index = index_state(app, found.notes)
    daemon, agent, day = last_word(app), standing(app), today.counted(app)
    arrived = arrival_state(app)
    warnings = (*app.loaded.warnings, *today.warnings(day))
    document = {
        **_document(found),
        "daemon": daemon,
        "index": _index_document(index, notes),
        "agent": _agent_document(agent, app.settings.spend),
        "arrived": _arrived_document(arrived),
        "events": dict(day.events),
        "sync": None,
        "warnings": list(warnings),
    }
    lines = [
        *_arrived_text(arrived),
        *_seen(daemon),
        *_index_text(index, notes),
        *_agent_text(agent, app.settings.spend),
        *today.text(day),
    ]
    output.emit(document, lambda: as_lines([*_text(found), *lines]))
    for warning in () if output.json else warnings:
        output.warn(warning)


def _document(found: VaultStatus) -> dict[str, object]:
    last = found.last
    return {
        "vault": str(found.root),
        "branch": found.branch,
        "last_commit": None
        if last is None
        else {"commit": last.id, "when": last.when.isoformat(), "author": last.author, "subject": last.subject},
        "dirty": [{"path": item.path, "kind": item.kind.value} for item in found.dirty],
        "open": list(found.open),
        "unread": list(found.unread),
        "blocked": found.blocked,
        "queue": {"waiting": found.waiting, "failed": found.failed},
        "unfinished": found.unfinished,
        "conflicts": list(found.conflicts),
        "writer": found.writer,
    }


def _text(found: VaultStatus) -> list[str]:
    lines = [f"vault    {found.root}", f"branch   {found.branch or 'none (HEAD is detached)'}"]
    if found.last:
        lines.append(f"last     {found.last.id[:12]} {found.last.when:%Y-%m-%d %H:%M} {found.last.subject}")
    staged = [item for item in found.dirty if item.kind is DirtyKind.STAGED]
    yours = [item for item in found.dirty if item.kind is not DirtyKind.STAGED]
    lines.append(f"edits    {_edits(len(yours), found.unread)}")
    lines += [f"           {item.kind:8} {item.path}" for item in yours[:_SHOWN]]
    lines += [f"           and {len(yours) - _SHOWN} more"] if len(yours) > _SHOWN else []
    lines += [f"unread   {path}: cannot be looked at, so what changed in it is not known" for path in found.unread]
    lines += [
        f"open     {path}: another program keeps it open; recorded when it is closed or left alone"
        for path in found.open
    ]
    lines += [f"staged   {len(staged)} by you, for your own git commit"] if staged else []
    lines += [f"waits    {found.blocked}"] if found.blocked else []
    lines += [f"queue    {found.waiting} writes wait"] if found.waiting else []
    lines += [f"failed   {path}: {reason}" for path, reason in found.failed.items()]
    lines += (
        [f"crash    {found.unfinished} writes to finish; the next write or `doctor --fix` does it"]
        if found.unfinished
        else []
    )
    lines += [f"conflict {path}" for path in found.conflicts]
    lines += [f"writing  process {found.writer} is writing now"] if found.writer is not None else []
    return lines


def _arrived_document(state: ArrivalState) -> dict[str, object]:
    remotes = [{"name": each.name, "address": each.address, "writers": each.writers, "notes": each.notes}
               for each in state.remotes]  # fmt: skip
    return {"remotes": remotes, "steering": list(state.steering)}


def _arrived_text(state: ArrivalState) -> list[str]:
    """Nothing where nothing has arrived."""
    lines = []
    for each in state.remotes:
        if each.notes:
            name = each.name or each.address
            ask = f"; who writes there? vault-agent trust {name} --only-me, or --others"
            who = {None: ask, "me": ", where only you write"}.get(each.writers, ", where others write too")
            lines.append(f"arrived  {counted(each.notes)} by {name}{who}")
    return lines + [
        f"arrived  {path} steers me when you have looked: vault-agent trust {path}" for path in state.steering
    ]


def _edits(count: int, unread: Sequence[str]) -> str:
    known = f"{count} not committed yet" if count else ""
    if not unread:
        return known or "all committed"
    more = f" and {len(unread) - 3} more" if len(unread) > 3 else ""
    return f"{known}{'; ' if known else ''}unknown: cannot read {', '.join(unread[:3])}{more}"


def _index_document(index: IndexState, notes: bool) -> dict[str, object]:
    document: dict[str, object] = {"mode": index.mode, "engine": index.engine, "problem": index.problem}
    document["behind"] = index.behind
    if index.coverage is not None:
        lost = (*index.coverage.skipped, *index.coverage.failed)
        document |= {"indexed": index.coverage.indexed, "pending": index.coverage.pending, "not_indexed": len(lost)}
        if notes:
            document["notes"] = [{"path": path, "reason": reason} for path, reason in (*lost, *index.coverage.partly)]
    return document


def _index_text(index: IndexState, notes: bool) -> list[str]:
    if index.coverage is None:
        return [f"index    none: {index.problem}; `vault-agent search` or the daemon builds it"]
    lost = (*index.coverage.skipped, *index.coverage.failed)
    line = f"index    {index.coverage.indexed} notes found by {index.mode} search ({index.engine})"
    line += f", {len(lost)} not: see --notes" if lost and not notes else ""
    line += f"; {index.behind} changes not taken in yet" if index.behind else ""
    named = (*lost, *index.coverage.partly) if notes else ()
    return [line, *(f"           {path}: {reason}" for path, reason in named)]


def _agent_document(agent: Standing, caps: Spend) -> dict[str, object]:
    today = agent.today
    spent = None
    if today is not None:
        spent = {"calls": today.calls, "tokens": today.tokens, "money": round(today.money, 6)}
    return {
        "model": agent.model or None,
        "today": spent,
        "caps": {"money": caps.daily, "tokens": caps.daily_tokens},
        "approvals": agent.approvals,
        "questions": agent.questions,
        "skills": {"reviews": list(agent.reviews), "suggestions": list(agent.suggestions)},
        "waiting": list(agent.waiting),
        "working": list(agent.working),
        "problem": agent.problem or None,
    }


def _agent_text(agent: Standing, caps: Spend) -> list[str]:
    line = f"agent    {agent.model or 'no model is configured: `ask` quotes your notes'}"
    if agent.today is not None and agent.today.calls:
        money, tokens = agent.today.money, agent.today.tokens
        line += f"; today ${money:.2f} of ${caps.daily:g}, {tokens:,} of {caps.daily_tokens:,} tokens"
    lines = [line]
    lines += [f"           {agent.problem}"] if agent.problem else []
    lines += [f"approve  {agent.approvals} calls wait: vault-agent approvals"] if agent.approvals else []
    lines += [f"asked    {agent.questions} questions wait: vault-agent questions"] if agent.questions else []
    lines += _skills_text(agent.reviews, agent.suggestions)
    return lines + [f"working  in {path}" for path in agent.working]


def _skills_text(reviews: Sequence[str], suggestions: Sequence[str]) -> list[str]:
    said = [f"{len(reviews)} to review: vault-agent skills review"] if reviews else []
    said += [f"{len(suggestions)} to learn: vault-agent skills suggest"] if suggestions else []
    return [f"skills   {'; '.join(said)}"] if said else []


def _seen(daemon: Mapping[str, object] | None) -> list[str]:
    if daemon is None:
        return ["daemon   not running"]
    if daemon.get("starting"):
        return [f"daemon   process {daemon.get('pid')}, starting"]
    waiting = f", {daemon.get('waiting')} changes waiting" if daemon.get("waiting") else ""
    trouble = f"; {daemon.get('problem')}" if daemon.get("problem") else ""
    return [f"daemon   process {daemon.get('pid')}, {daemon.get('files')} files watched{waiting}{trouble}"]
