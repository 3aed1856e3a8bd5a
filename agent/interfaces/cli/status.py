"""`vault-agent status`: the state of commits, waiting changes, index, daemon and agent; changes nothing."""

from collections.abc import Iterator, Mapping, Sequence

import click

from agent.app.open import open_workspace
from agent.config.run_settings import SpendSettings
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.metrics import names
from agent.metrics.totals import MetricTotals, load_totals
from agent.runs.arrivals import ArrivalState, arrival_state, counted
from agent.runs.status import AgentStatus, agent_status
from agent.vault.health.status import VaultStatus, status
from agent.vault.worktree.survey import DirtyKind
from agent.workspace.daemon_lock import load_daemon_state
from agent.workspace.index_status import IndexState, index_state

_SHOWN = 10
_COUNTS = (
    (names.RUNS, "run", "runs"),
    (names.RECALLED, "recall", "recalls"),
    (names.CAPTURED, "capture", "captures"),
    (names.REFRESHED, "refresh", "refreshes"),
    (names.SUGGESTED, "skill suggested", "skills suggested"),
)


@click.command(short_help="Show what is saved, what waits, and what needs you.")
@click.option("--notes", is_flag=True, help="Name every note that search does not find in full, and why.")
@click.pass_obj
def command(output: Output, notes: bool) -> None:
    """Show the last commit, uncommitted and waiting changes with reasons, conflicts, the daemon, index, agent and
    day."""
    workspace = open_workspace(output.vault())
    found = status(workspace.vault)
    index = index_state(workspace, found.notes)
    daemon, agent, day = (
        load_daemon_state(workspace),
        agent_status(workspace),
        load_totals(workspace.metrics, workspace.clock.now().date()),
    )
    arrived = arrival_state(workspace)
    warnings = list(workspace.loaded.warnings)
    if day.unreadable:
        warnings.append("some of today's counts cannot be read and are left out")
    document = {
        **_document(found),
        "daemon": daemon,
        "index": _index_document(index, notes),
        "agent": _agent_document(agent, workspace.settings.spend),
        "arrived": arrived_document(arrived),
        "events": dict(day.events),
        "sync": None,
        "warnings": warnings,
    }
    lines = [
        *_format_arrived(arrived),
        *_format_daemon(daemon),
        *_format_index(index, notes),
        *_format_agent(agent, workspace.settings.spend),
        *_format_day(day),
    ]
    output.emit(document, lambda: as_lines([*_format_vault(found), *lines]))
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


def _format_vault(found: VaultStatus) -> list[str]:
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


def arrived_document(state: ArrivalState) -> dict[str, object]:
    """The remotes, and the arrived notes with instructions for the agent that need a review, for `--json`."""
    remotes = [
        {"name": each.name, "address": each.address, "writers": each.writers, "notes": each.notes}
        for each in state.remotes
    ]
    return {"remotes": remotes, "steering": list(state.steering)}


def _format_arrived(state: ArrivalState) -> list[str]:
    """A line for each remote that notes arrived from, and for each note that needs a review."""
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
    document |= {"behind": index.behind, "vectors": index.vectors or None}
    if index.coverage is not None:
        lost = (*index.coverage.skipped, *index.coverage.failed)
        document |= {"indexed": index.coverage.indexed, "pending": index.coverage.pending, "not_indexed": len(lost)}
        if notes:
            document["notes"] = [{"path": path, "reason": reason} for path, reason in (*lost, *index.coverage.partly)]
    return document


def _format_index(index: IndexState, notes: bool) -> list[str]:
    if index.coverage is None:
        return [f"index    none: {index.problem}; `vault-agent search` or the daemon builds it"]
    lost = (*index.coverage.skipped, *index.coverage.failed)
    parts = ", ".join(filter(None, (index.engine, index.vectors)))
    line = f"index    {index.coverage.indexed} notes found by {index.mode} search ({parts})"
    line += f", {len(lost)} not: see --notes" if lost and not notes else ""
    line += f"; {index.behind} changes not taken in yet" if index.behind else ""
    named = (*lost, *index.coverage.partly) if notes else ()
    return [line, *(f"           {path}: {reason}" for path, reason in named)]


def _agent_document(agent: AgentStatus, caps: SpendSettings) -> dict[str, object]:
    today = agent.today
    spent = None
    if today is not None:
        spent = {"calls": today.calls, "tokens": today.tokens, "money": round(today.money, 6)}
    return {
        "model": agent.model or None,
        "models": dict(agent.models),
        "today": spent,
        "caps": {"money": caps.daily, "tokens": caps.daily_tokens},
        "approvals": agent.approvals,
        "questions": agent.questions,
        "skills": {"reviews": list(agent.reviews), "suggestions": list(agent.suggestions)},
        "waiting": list(agent.waiting),
        "working": list(agent.working),
        "problem": "; ".join(filter(None, (*agent.misconfigured[:1], agent.problem))) or None,
    }


def _format_agent(agent: AgentStatus, caps: SpendSettings) -> list[str]:
    first, *rest = agent.misconfigured or (_models(agent),)
    lines = [f"agent    {'no model can be asked: ' if agent.misconfigured else ''}{first}"]
    if agent.today is not None and agent.today.calls:
        money, tokens = agent.today.money, agent.today.tokens
        lines[0] += f"; today ${money:.2f} of ${caps.daily:g}, {tokens:,} of {caps.daily_tokens:,} tokens"
    lines += [f"           {each}" for each in rest]
    lines += [f"           {agent.problem}"] if agent.problem else []
    lines += [f"approve  {agent.approvals} calls wait: vault-agent approvals"] if agent.approvals else []
    lines += [f"asked    {agent.questions} questions wait: vault-agent questions"] if agent.questions else []
    lines += _format_skills(agent.reviews, agent.suggestions)
    return lines + [f"working  in {path}" for path in agent.working]


def _models(agent: AgentStatus) -> str:
    """The main model, and those that differ from it by kind of work."""
    others = [f"{kind}: {name}" for kind, name in agent.models.items() if name != agent.model]
    return ", ".join([agent.model, *others]) if agent.model else "no model is configured: `ask` quotes your notes"


def _format_skills(reviews: Sequence[str], suggestions: Sequence[str]) -> list[str]:
    parts = [f"{len(reviews)} to review: vault-agent skills review"] if reviews else []
    parts += [f"{len(suggestions)} to learn: vault-agent skills suggest"] if suggestions else []
    return [f"skills   {'; '.join(parts)}"] if parts else []


def _format_daemon(daemon: Mapping[str, object] | None) -> list[str]:
    if daemon is None:
        return ["daemon   not running"]
    if daemon.get("starting"):
        return [f"daemon   process {daemon.get('pid')}, starting"]
    waiting = f", {daemon.get('waiting')} changes waiting" if daemon.get("waiting") else ""
    trouble = f"; {daemon.get('problem')}" if daemon.get("problem") else ""
    line = f"daemon   process {daemon.get('pid')}, {daemon.get('files')} files watched{waiting}{trouble}"
    return [line, *_format_work(daemon.get("work"))]


def _format_work(work: object) -> list[str]:
    """What goes on in the daemon's pool, and what waits for a place in it; nothing while it is idle."""
    rows = work if isinstance(work, dict) else {}
    running, waiting = (", ".join(map(str, rows.get(name) or ())) for name in ("running", "waiting"))
    return [f"works    {running}{f'; waits: {waiting}' if waiting else ''}"] if running else []


def _format_day(today: MetricTotals) -> list[str]:
    """Today's runs, memories and failures in at most two lines; `metrics` has the full figures."""
    done = [_many(today.events[name], one, more) for name, one, more in _COUNTS if today.events.get(name)]
    failed = list(_failed(today))
    lines = [f"today    {', '.join(done or ['no run yet'])}"] if done or failed else []
    return lines + ([f"           failed: {', '.join(failed)}; see `vault-agent metrics`"] if failed else [])


def _failed(today: MetricTotals) -> Iterator[str]:
    for number, one, more in (
        (today.outcomes.get("failed", 0), "run", "runs"),
        (today.events.get(names.TOOLS_FAILED, 0), "tool call", "tool calls"),
        (today.capture_problems, "capture", "captures"),
        (sum(today.handler_errors.values()), "hook", "hooks"),
    ):
        if number:
            yield _many(number, one, more)


def _many(number: float, one: str, more: str) -> str:
    return f"{number:,.0f} {one if number == 1 else more}"
