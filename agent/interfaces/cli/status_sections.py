"""What the agent does by itself, as `status` shows it: its state, the next job, and what is wrong with jobs.

What `status` tells of notices that have not gone out, and of messages and reflections that cannot be read.

What has arrived from elsewhere, as `status` and `trust` tell it.
"""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib import import_module
from shlex import quote
from typing import TYPE_CHECKING, cast

from agent.background.jobs.jobs_status import JobsStatus
from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.interfaces.cli.language import counted, listed, row, tr
from agent.interfaces.cli.output import fields
from agent.interfaces.cli.printing import one_line
from agent.interfaces.cli.time_format import format_time
from agent.lazy import later
from agent.runs.arrivals import ArrivalState
from agent.vault.glance import has_lines, has_records, has_rows
from agent.vault.held_back import HeldFile, HoldReason, HoldState
from agent.vault.layout import NOTICES, SET_ASIDE
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.attention.receipt import NoticeReceipt
    from agent.growth.lessons.looks import UnreadAnswers
    from agent.runs.reach import OutOfReach

if TYPE_CHECKING:
    from agent.deeds.jobs import problem_views
    from agent.interfaces.cli.job_texts import owed_line, problem_line, warning_lines
else:  # only where there are jobs
    problem_views = later("agent.deeds.jobs", "problem_views")
    owed_line = later("agent.interfaces.cli.job_texts", "owed_line")
    problem_line = later("agent.interfaces.cli.job_texts", "problem_line")
    warning_lines = later("agent.interfaces.cli.job_texts", "warning_lines")

_NOTICES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class NoticesStatus:
    """How many notices are held, and how many no channel has delivered yet; `problem`: the ledger cannot be read.
    `unheard` are the reminders among the latter."""

    held: int = 0
    undelivered: int = 0
    problem: str = ""
    unheard: "tuple[NoticeReceipt, ...]" = ()


def notices_status(workspace: Workspace) -> NoticesStatus:
    """Read from the ledger; changes nothing."""
    if not has_lines(workspace.vault, NOTICES):
        return NoticesStatus()
    try:
        receipts = import_module("agent.app.notice_ledger").open_ledger(workspace).all()
    except AgentError as error:
        return NoticesStatus(problem=error.message)
    held = sum(each.decision.decided == "held" for each in receipts)
    unheard = tuple(each for each in receipts if each.is_undelivered and each.is_reminder)
    return NoticesStatus(held, sum(each.is_undelivered for each in receipts), unheard=unheard)


def format_notices_status(found: NoticesStatus) -> list[str]:
    """A line when something waits; none otherwise."""
    parts = [counted(found.held, "1 is held", "{count} are held")] if found.held else []
    if found.undelivered:
        parts.append(counted(found.undelivered, "1 is not delivered yet", "{count} are not delivered yet"))
    if found.problem:
        return [row("notices", tr(found.problem))]
    sentence = tr("; ").join(parts)
    lines = [row("notices", tr("{told}: vault-agent notices list", told=sentence))] if parts else []
    return lines + [row("", f"  {_format_unheard(each)}") for each in found.unheard[:_NOTICES_SHOWN]]


def _format_unheard(receipt: "NoticeReceipt") -> str:
    """A reminder of which no channel has proved that it arrived, and where it stands meanwhile."""
    due = datetime.fromisoformat(receipt.raised.due)
    words = tr("“{title}” was due at {at:%Y-%m-%d %H:%M}", title=one_line(receipt.raised.title), at=due)
    if receipt.problem:
        words += tr("; {channel} has not taken it: {problem}", channel=receipt.channel, problem=tr(receipt.problem))
    place = receipt.stands_in.partition(" ")[0]
    return words + (tr("; it stands in {path}", path=place) if place else "")


def unread_messages(workspace: Workspace) -> Mapping[str, int]:
    """How many messages were set aside, by the name of their channel."""
    if not has_records(workspace.vault, SET_ASIDE):
        return {}
    store = import_module("agent.attention.set_aside").SetAside(workspace.vault.private_folder / SET_ASIDE)
    return Counter(each.channel for each in store.all())


def format_unread_messages(found: Mapping[str, int]) -> list[str]:
    """A line if there are any; none otherwise."""
    one, more = "1 message by {name} cannot be read", "{count} messages by {name} cannot be read"
    sentence = tr("; ").join(counted(count, one, more, name=name) for name, count in found.items())
    return [row("messages", tr("{told}: vault-agent channels unread", told=sentence))] if sentence else []


def unread_reflections(workspace: Workspace) -> "UnreadAnswers | None":
    """The trouble, if the last answer of the model could not be read; None without one."""
    if not has_rows(workspace.vault, "reflected"):
        return None
    module = import_module("agent.growth.lessons.looks")
    return cast("UnreadAnswers | None", module.unread_answers(workspace.vault))


def format_unread_reflections(found: "UnreadAnswers | None", now: datetime) -> list[str]:
    """A line about the trouble; none without one."""
    if found is None:
        return []
    since = in_clock_zone(found.since, now)
    one = "an answer of the model cannot be read, of {since:%Y-%m-%d %H:%M}"
    more = "{count} answers of the model cannot be read, since {since:%Y-%m-%d %H:%M}"
    return [row("reflect", counted(found.count, one, more, since=since))]


def format_out_of_reach(found: "Sequence[OutOfReach]", now: datetime) -> list[str]:
    """A line for each server and calendar that could not be reached."""
    sentence = "{name} cannot be reached since {since:%Y-%m-%d %H:%M}: {problem}"
    return [
        row(each.kind, tr(sentence, name=each.name, since=in_clock_zone(each.since, now), problem=each.problem))
        for each in found
    ]


def out_of_reach_document(found: "Sequence[OutOfReach]") -> list[dict[str, str]]:
    """The same for `--json`."""
    return [
        {"kind": each.kind, "name": each.name, "since": each.since.isoformat(), "problem": each.problem}
        for each in found
    ]


_ARRIVED = {
    None: "{notes} by {name}; who writes there? vault-agent trust {name} --only-me, or --others",
    "me": "{notes} by {name}, where only you write",
    "others": "{notes} by {name}, where others write too",
}


_ARRIVALS_SHOWN = 20
_WAITS, _REFUSED = HoldState.WAITS, HoldState.REFUSED
_OF_NAMES = "{count} with a name or of a kind that cannot be here: {names}; rename or remove it where it came from"
_HELD = {
    (HoldReason.ACTS, _WAITS): "{count} that other programs may run or obey: {names}; vault-agent needs, "
    "or vault-agent trust {name}",
    (
        HoldReason.ACTS,
        _REFUSED,
    ): "{count} for good, as you said no: {names}; vault-agent trust {name} takes one after all",
    (HoldReason.PRIVATE, _WAITS): "{count} at a path that you keep out of git: {names}; yours stays private; to take "
    "theirs, move yours away, then vault-agent trust {name}",
    (HoldReason.NAME, _WAITS): _OF_NAMES,
    (HoldReason.LINK, _WAITS): _OF_NAMES,
}


def arrived_document(state: ArrivalState) -> dict[str, object]:
    """The remotes, and the arrived notes with instructions for the agent that need a review, for `--json`."""
    remotes = [fields(each, "name address writers notes") for each in state.remotes]
    return fields(state, "steering", remotes=remotes, held=[fields(each, "path reason state") for each in state.held])


def format_arrived(state: ArrivalState) -> list[str]:
    """A line for each remote that notes arrived from, for each note that needs a review, and for what is held back."""
    lines = []
    for each in state.remotes:
        if each.notes:
            notes = counted(each.notes, "1 note", "{count} notes")
            lines.append(row("arrived", tr(_ARRIVED[each.writers], notes=notes, name=each.name or each.address)))
    steers = "{path} steers me when you have looked: vault-agent trust {name}"
    lines += [row("arrived", tr(steers, path=path, name=shlex.quote(path))) for path in state.steering]
    return lines + [row("held", line) for line in format_held(state.held)]


def format_held(held: Sequence[HeldFile]) -> list[str]:
    """A line for each kind of what is held back, with the way to answer."""
    return [line for about, key in _HELD.items() if (line := _of_kind(held, *about, key))]


def _of_kind(held: Sequence[HeldFile], reason: HoldReason, state: HoldState, sentence: str) -> str:
    paths = [each.path for each in held if (each.reason, each.state) == (reason, state)]
    if not paths:
        return ""
    return tr(sentence, names=listed(paths[:_ARRIVALS_SHOWN], 3), count=len(paths), name=shlex.quote(paths[0]))


_SHOWN = 5


def format_jobs_status(found: JobsStatus, now: datetime, is_watched: bool) -> list[str]:
    """A line for the state, one for the next job, and one for each thing that needs its person."""
    lines = []
    state = found.state
    if state is not None and is_watched:
        words = tr("{state} since {time:%H:%M} ({reason})", state=tr(state.state),
                     time=in_clock_zone(state.since, now), reason=tr(state.reason))  # fmt: skip
        if state.tasks_completed_today:
            words += tr("; ") + counted(state.tasks_completed_today, "1 task today", "{count} tasks today")
        lines.append(row("now", words))
    if found.switch.line is not None:
        lines.append(row("jobs", tr(found.switch.line)))
    elif found.next_job is not None and found.next_at is not None:
        lines.append(
            row("jobs", tr("{id} at {moment}", id=found.next_job.name, moment=format_time(found.next_at, now)))
        )
    lines += [row("job", problem_line(each)) for each in found.shelf.problems[:_SHOWN]]
    warnings = warning_lines(found.shelf.jobs)[:_SHOWN] if found.shelf.jobs else ()
    lines += [row("job", each) for each in warnings]
    stopped = "{id} is stopped by its failures: vault-agent jobs resume {id}"
    lines += [row("job", tr(stopped, id=quote(each.name))) for each in found.stopped[:_SHOWN]]
    lines += [row("job", owed_line(each, now)) for each in found.owed[:_SHOWN]]
    if found.asked:
        one, more = "1 job waits for your yes: {list}", "{count} jobs wait for your yes: {list}"
        lines.append(row("approve", counted(found.asked, one, more, list="vault-agent needs")))
    return lines


def jobs_status_document(found: JobsStatus) -> dict[str, object]:
    """The same for `--json`."""
    names = "state since reason last_wakeup last_sleep"
    state = fields(found.state, names) if found.state else dict.fromkeys(names.split())
    return {
        "enabled": found.switch.enabled,
        **state,
        "tasks_completed_today": found.state.tasks_completed_today if found.state else 0,
        "next": {"job": found.next_job.id, "at": found.next_at} if found.next_job and found.next_at else None,
        "jobs": len(found.shelf.jobs),
        "problems": problem_views(found.shelf) if found.shelf.problems else [],
        "warnings": [{"path": job.path, "message": each} for job in found.shelf.jobs for each in job.warnings],
        "stopped": [each.id for each in found.stopped],
        "asked": found.asked,
        "owed": [fields(each, "planned outcome reason again", job=each.job.id) for each in found.owed],
    }
