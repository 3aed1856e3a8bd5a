"""What `vault-agent status` prints, in words and as JSON: commits, edits and what keeps either waiting, the agent, the
index and the day.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from agent.background.jobs.jobs_status import jobs_status
from agent.clock import Clock, SetClock
from agent.config.run_settings import SpendSettings
from agent.interfaces.cli import status_sections as sections
from agent.interfaces.cli.language import counted, first_lines, listed, row, tr
from agent.interfaces.cli.output import PROGRAM, Output, fields, progress
from agent.interfaces.cli.printing import as_lines, beside, padded
from agent.interfaces.cli.sync_status import found_standings, short_lines
from agent.interfaces.cli.time_format import format_time
from agent.lazy import later
from agent.llm.ledger import SpendTotals
from agent.metrics import names
from agent.metrics.totals import MetricTotals, load_totals
from agent.prefetch import Prefetch
from agent.runs.arrivals import arrival_state
from agent.runs.status import AgentStatus, GrowthPart, agent_status
from agent.schedule.shelf import GOAL_TYPE
from agent.vault.health.status import VaultStatus
from agent.vault.worktree.survey import DRAFT, DirtyKind
from agent.workspace.index_status import IndexState, index_state
from agent.workspace.workspace import Workspace, load_daemon_state

if TYPE_CHECKING:
    from agent.deeds.sync import remote_view
else:
    remote_view = later("agent.deeds.sync", "remote_view")

_FILES_SHOWN = 10
_FILES_NAMED = 5


def vault_document(found: VaultStatus) -> dict[str, object]:
    """The state for JSON."""
    last = fields(found.last, "when author subject", commit=found.last.id) if found.last is not None else None
    dirty = [fields(each, "path kind") for each in found.dirty]
    names = "branch left_out open unread blocked unfinished conflicts writer"
    queue = fields(found, "waiting failed")
    return fields(found, names, vault=str(found.root), last_commit=last, dirty=dirty, queue=queue)


def last_commit(found: VaultStatus, now: datetime) -> str:
    """The last commit in one line; empty if there is none."""
    last = found.last
    return f"{last.id[:12]} {format_time(last.when, now)} {last.subject}" if last is not None else ""


def format_vault(found: VaultStatus, now: datetime) -> list[str]:
    """A line for each thing about commits and files."""
    lines = [row("vault", str(found.root)), row("branch", found.branch or tr("none (HEAD is detached)"))]
    if found.last:
        lines.append(row("last", last_commit(found, now)))
    staged = [item for item in found.dirty if item.kind is DirtyKind.STAGED]
    yours = [item for item in found.dirty if item.kind is not DirtyKind.STAGED and item.path not in found.left_out]
    lines.append(row("edits", _edits(len(yours), found.unread)))
    lines += first_lines((f"{padded(tr(each.kind), 8)} {each.path}" for each in yours), _FILES_SHOWN, row("", "  "))
    lines += _format_left_out(found.left_out)
    unread = "{path}: cannot be looked at, so what changed in it is not known"
    lines += [row("unread", tr(unread, path=path)) for path in found.unread]
    open_elsewhere = "{path}: another program keeps it open; recorded when it is closed or left alone"
    lines += [row("open", tr(open_elsewhere, path=path)) for path in found.open]
    lines += [row("staged", tr("{count} by you, for your own git commit", count=len(staged)))] if staged else []
    lines += [row("waits", tr(found.blocked))] if found.blocked else []
    lines += [row("queue", counted(found.waiting, "1 change waits", "{count} changes wait"))] if found.waiting else []
    lines += [row("failed", tr("{path}: {reason}", path=path, reason=reason)) for path, reason in found.failed.items()]
    if found.unfinished:
        one = "1 change to finish; the next one or `doctor --fix` does it"
        more = "{count} changes to finish; the next one or `doctor --fix` does it"
        lines.append(row("crash", counted(found.unfinished, one, more)))
    lines += [row("conflict", path) for path in found.conflicts]
    if found.writer is not None:
        lines.append(row("writing", tr("process {process} is writing now", process=found.writer)))
    return lines


def _format_left_out(found: Mapping[str, str]) -> Iterator[str]:
    """A line for the drafts that the person left when the folder became a vault, and one for other files."""
    drafts = [path for path, why in found.items() if why == DRAFT]
    others = [tr("{path} ({reason})", path=path, reason=tr(why)) for path, why in found.items() if why != DRAFT]
    if drafts:
        one = "1 of yours stays uncommitted until you change it: {paths}"
        more = "{count} of yours stay uncommitted until you change them: {paths}"
        yield row("drafts", counted(len(drafts), one, more, paths=listed(drafts, _FILES_NAMED)))
    if others:
        one = "1 of your commits: {paths}; `git add` takes it"
        more = "{count} of your commits: {paths}; `git add` takes them"
        yield row("left out", counted(len(others), one, more, paths=listed(others, _FILES_NAMED)))


def _edits(count: int, unread: Sequence[str]) -> str:
    parts = [tr("{count} not committed yet", count=count)] if count else []
    parts += [tr("unknown: cannot read {paths}", paths=listed(unread, 3))] if unread else []
    return tr("; ").join(parts) or tr("all committed")


_MOST = 5


def machines_document(agent: AgentStatus) -> dict[str, object]:
    """The other machines for `--json`."""
    return {
        "others": [fields(each, "name last_seen version", daemon=each.has_daemon) for each in agent.machines],
        "sessions": [fields(each, "path waits") for each in agent.elsewhere],
        "spent": fields(agent.today_elsewhere, "tokens", money=round(agent.today_elsewhere.money, 6)),
        "decided": agent.arrived,
    }


def format_machines(agent: AgentStatus) -> list[str]:
    """A line for the other machines, and one for each thing that goes on there or came from there."""
    seen = [
        tr("{name} (last seen {day})", name=each.name, day=each.last_seen) if each.last_seen else each.name
        for each in agent.machines
    ]
    lines = [row("machines", listed(seen, _MOST))] if seen else []
    spent = agent.today_elsewhere
    if spent.calls:
        words = "today ${money:.2f} and {tokens:,} tokens on other machines, as far as known; the limits count them"
        lines.append(row("", "  " + tr(words, money=spent.money, tokens=spent.tokens)))
    for each in agent.elsewhere[:_MOST]:
        words = "waits on another machine: {path}" if each.waits else "goes on on another machine: {path}"
        lines.append(row("", "  " + tr(words, path=each.path)))
    decided = "{path} was decided elsewhere, where others may write; it counts if you decide it here"
    return [*lines, *(row("arrived", tr(decided, path=path)) for path in agent.arrived)]


_NAME = re.compile(r"^\S*\s*")
"""The name that a line begins with, and the spaces up to its words."""
_COUNTS = (
    (names.RUNS, "1 run", "{count:,} runs"),
    (names.RECALLED, "1 recall", "{count:,} recalls"),
    (names.CAPTURED, "1 capture", "{count:,} captures"),
    (names.REFRESHED, "1 refresh", "{count:,} refreshes"),
    (names.SUGGESTED, "1 skill suggested", "{count:,} skills suggested"),
)
_NEEDS = "vault-agent needs"


def show(output: Output, workspace: Workspace, looked: Prefetch[VaultStatus], notes: bool) -> None:
    """Print the state. `looked` is what git finds meanwhile; `notes` names each note that search misses in part."""
    if workspace.vault.provenance.is_new:
        progress("looking for the first time at who has written what …")
    daemon, agent, day = (
        load_daemon_state(workspace),
        agent_status(workspace),
        load_totals(workspace.metrics, workspace.clock.now().date()),
    )
    notices, unread = sections.notices_status(workspace), sections.unread_reflections(workspace)
    messages = sections.unread_messages(workspace)
    index = index_state(workspace, lambda: looked.result().notes, GOAL_TYPE, lambda: looked.result().number)
    found = looked.result()
    arrived = arrival_state(workspace)
    remotes, paused = found_standings(workspace, len(found.dirty))
    jobs = jobs_status(workspace, index.of_type, found.notes)
    warnings = list(workspace.loaded.warnings)
    if day.unreadable:
        warnings.append(tr("some of today's counts cannot be read and are left out"))

    def document() -> dict[str, object]:
        clock = fields(set_to, "rate", now=set_to.now()) if isinstance(set_to := workspace.clock, SetClock) else None
        return {
            **vault_document(found),
            "daemon": daemon,
            "index": _index_document(index, notes),
            "agent": _agent_document(agent, workspace.settings.spend),
            "schedule": sections.jobs_status_document(jobs),
            "notices": fields(notices, "held undelivered problem"),
            "unread_messages": dict(messages),
            "unread_reflections": unread,
            "out_of_reach": sections.out_of_reach_document(agent.out_of_reach),
            "machines": machines_document(agent),
            "arrived": sections.arrived_document(arrived),
            "events": dict(day.events),
            "sync": {"paused": paused, "remotes": [remote_view(workspace.vault, each) for each in remotes]}
            if remotes
            else None,
            "clock": clock,
            "warnings": warnings,
        }

    lines = [
        *_format_clock(workspace.clock),
        *short_lines(remotes, paused, workspace.clock.now()),
        *sections.format_arrived(arrived),
        *_format_daemon(daemon),
        *sections.format_jobs_status(jobs, workspace.clock.now(), daemon is not None),
        *sections.format_notices_status(notices),
        *sections.format_unread_messages(messages),
        *sections.format_unread_reflections(unread, workspace.clock.now()),
        *_format_index(index, notes),
        *_format_agent(agent, workspace.settings.spend),
        *sections.format_out_of_reach(agent.out_of_reach, workspace.clock.now()),
        *format_machines(agent),
        *_format_day(day),
    ]
    output.emit(document, lambda: as_lines(_folded([*format_vault(found, workspace.clock.now()), *lines])))
    for warning in () if output.json else warnings:
        output.warn(warning)


def _format_clock(clock: Clock) -> list[str]:
    """A line about a clock that was set for trying things out."""
    if not isinstance(clock, SetClock):
        return []
    sentence = tr("the clock is set: {now:%Y-%m-%d %H:%M}", now=clock.now())
    sentence += tr(", {rate:g} times as fast", rate=clock.rate) if clock.rate != 1 else ""
    return [row("clock", sentence)]


def _folded(lines: Sequence[str]) -> Iterator[str]:
    """The lines, on a terminal cut after words, below each other beside their names; a command stays on one line."""
    for line in lines:
        name = line[: len(line) - len(_NAME.sub("", line))]
        words = line[len(name) :]
        yield from beside(name, words) if PROGRAM not in line else (line,)


def _index_document(index: IndexState, notes: bool) -> dict[str, object]:
    document: dict[str, object] = {"mode": index.mode, "engine": index.engine, "problem": index.problem}
    document |= {"behind": index.outdated, "vectors": index.vectors or None}
    if index.coverage is not None:
        lost = (*index.coverage.skipped, *index.coverage.failed)
        document |= {"indexed": index.coverage.indexed, "pending": index.coverage.pending, "not_indexed": len(lost)}
        document["files_not_read"] = len(index.unread)
        if notes:
            named = (*lost, *index.coverage.partly, *index.unread)
            document["notes"] = [{"path": path, "reason": reason} for path, reason in named]
    return document


def _format_index(index: IndexState, notes: bool) -> list[str]:
    if index.coverage is None:
        none = "none: {problem}; `vault-agent search` or the daemon builds it"
        return [row("index", tr(none, problem=tr(index.problem or "")))]
    lost = (*index.coverage.skipped, *index.coverage.failed)
    parts = listed(filter(None, (index.engine, index.vectors)))
    line = tr(
        "{count} notes found by {mode} search ({parts})",
        count=index.coverage.indexed,
        mode=tr(index.mode),
        parts=parts,
    )
    line += tr(", {count} not: see --notes", count=len(lost)) if lost and not notes else ""
    if index.outdated:
        line += counted(index.outdated, "; 1 change not taken in yet", "; {count} changes not taken in yet")
    if index.unread and not notes:
        more = "; the text of {count} files is not read, see --notes"
        line += counted(len(index.unread), "; the text of 1 file is not read, see --notes", more)
    named = (*lost, *index.coverage.partly, *index.unread) if notes else ()
    return [
        row("index", line),
        *(row("", "  " + tr("{path}: {reason}", path=path, reason=tr(reason))) for path, reason in named),
    ]


def _agent_document(agent: AgentStatus, caps: SpendSettings) -> dict[str, object]:
    def spent(found: SpendTotals) -> dict[str, object]:
        return fields(found, "calls tokens", money=round(found.money, 6))

    return {
        **fields(agent, "models approvals questions waiting working", model=agent.model or None),
        "today": None if agent.today is None else spent(agent.today),
        "growth": spent(agent.growth),
        "growth_parts": {part: spent(found) for part, found in agent.growth_parts.items()},
        "caps": {"money": caps.daily, "tokens": caps.daily_tokens},
        "skills": fields(agent, "reviews suggestions"),
        "problem": "; ".join(filter(None, (*agent.misconfigured[:1], agent.problem))) or None,
    }


def _format_growth(spent: SpendTotals, parts: Mapping[GrowthPart, SpendTotals]) -> list[str]:
    """A line for what the agent has spent on its own growth today, in all and by its parts; none for nothing."""
    if not spent.calls:
        return []
    one = "today ${money:.4f} in 1 call of a model, {tokens:,} tokens"
    more = "today ${money:.4f} in {count:,} calls of a model, {tokens:,} tokens"
    line = counted(spent.calls, one, more, money=spent.money, tokens=spent.tokens)
    each_part = "{part} ${money:.4f} ({calls:,})"
    named = [
        tr(each_part, part=tr(part), money=each.money, calls=each.calls)
        for part, each in sorted(parts.items(), key=lambda item: (-item[1].money, item[0]))
    ]
    return [row("growth", tr("{line}: {parts}", line=line, parts=listed(named)))]


def _format_agent(agent: AgentStatus, caps: SpendSettings) -> list[str]:
    first, *rest = [tr(each) for each in agent.misconfigured] or [_models(agent)]
    lines = [row("agent", tr("no model can be asked: {problem}", problem=first) if agent.misconfigured else first)]
    if agent.today is not None and agent.today.calls:
        lines[0] += tr(
            "; today ${money:.2f} of ${daily:g}, {tokens:,} of {daily_tokens:,} tokens",
            money=agent.today.money,
            daily=caps.daily,
            tokens=agent.today.tokens,
            daily_tokens=caps.daily_tokens,
        )
    lines += [row("", f"  {each}") for each in (*rest, tr(agent.problem)) if each]
    lines += _format_growth(agent.growth, agent.growth_parts)
    if agent.approvals:
        calls = counted(agent.approvals, "1 call waits: {list}", "{count} calls wait: {list}", list=_NEEDS)
        lines.append(row("approve", calls))
    if agent.questions:
        asked = counted(agent.questions, "1 question waits: {list}", "{count} questions wait: {list}", list=_NEEDS)
        lines.append(row("asked", asked))
    lines += _format_skills(agent.reviews, agent.suggestions)
    return lines + [row("working", tr("in {path}", path=path)) for path in agent.working]


def _models(agent: AgentStatus) -> str:
    """The main model, and those that differ from it by kind of work."""
    others = [f"{kind}: {name}" for kind, name in agent.models.items() if name != agent.model]
    return listed([agent.model, *others]) if agent.model else tr("no model is configured: `ask` quotes your notes")


def _format_skills(reviews: Sequence[str], suggestions: Sequence[str]) -> list[str]:
    parts = [tr("{count} to review: vault-agent skills review", count=len(reviews))] if reviews else []
    parts += [tr("{count} to learn: vault-agent skills suggest", count=len(suggestions))] if suggestions else []
    return [row("skills", tr("; ").join(parts))] if parts else []


def _format_daemon(daemon: Mapping[str, object] | None) -> list[str]:
    if daemon is None:
        return [row("daemon", tr("not running"))]
    if daemon.get("starting"):
        return [row("daemon", tr("process {process}, starting", process=daemon.get("pid")))]
    line = tr("process {process}, {count} files watched", process=daemon.get("pid"), count=daemon.get("files"))
    line += tr(", {count} to take in", count=daemon.get("waiting")) if daemon.get("waiting") else ""
    lines = [row("daemon", line)]
    lines += [row("problem", tr(str(daemon.get("problem"))))] if daemon.get("problem") else []
    return [*lines, *_format_logged(daemon.get("logged")), *_format_work(daemon.get("work"))]


def _format_logged(logged: object) -> list[str]:
    """How much the daemon has logged as a warning or an error in the last day, and the last of it."""
    if not isinstance(logged, dict):
        return []
    one = "1 warning in the last day, at {at}: {last}"
    more = "{count:,} warnings in the last day, the last at {at}: {last}"
    at = str(logged.get("at")).replace("T", " ")[:16]
    return [row("logged", counted(int(logged.get("count") or 0), one, more, at=at, last=tr(str(logged.get("last")))))]


def _counted_work(names: Sequence[object]) -> str:
    """The names of the work, each once, with how often it is there."""
    counts = Counter(tr(str(each)) for each in names)
    return listed(name if count == 1 else f"{name} ×{count}" for name, count in counts.items())


def _format_work(work: object) -> list[str]:
    """What goes on in the daemon's pool, and what waits for a place in it; nothing while it is idle."""
    rows = work if isinstance(work, dict) else {}
    running, waiting = (_counted_work(rows.get(name) or ()) for name in ("running", "waiting"))
    waits = tr("{running}; waits: {waiting}", running=running, waiting=waiting) if waiting else running
    return [row("works", waits)] if running else []


def _format_day(today: MetricTotals) -> list[str]:
    """Today's runs, memories and failures in at most two lines; `metrics` has the full figures."""
    done = [counted(round(today.events[name]), one, more) for name, one, more in _COUNTS if today.events.get(name)]
    failed = listed(counted(round(number), one, more) for number, one, more in _failed(today) if number)
    lines = [row("today", listed(done) or tr("no run yet"))] if done or failed else []
    sentence = "  failed: {failed}; see `vault-agent status --metrics`"
    return [*lines, row("", tr(sentence, failed=failed))] if failed else lines


def _failed(today: MetricTotals) -> Iterator[tuple[float, str, str]]:
    """How often each kind of thing failed, with the sentences for one and for more."""
    yield today.outcomes.get("failed") or 0, "1 run", "{count:,} runs"
    yield today.events.get(names.TOOLS_FAILED) or 0, "1 tool call", "{count:,} tool calls"
    yield today.capture_problems or 0, "1 capture", "{count:,} captures"
    yield sum(today.handler_errors.values()), "1 hook", "{count:,} hooks"
