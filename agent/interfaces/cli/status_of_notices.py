"""What `status` tells of notices that have not gone out, and of messages and reflections that cannot be read."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, cast

from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.interfaces.cli.language import counted, row, said
from agent.interfaces.cli.printing import one_line
from agent.vault.glance import has_lines, has_records, has_rows
from agent.vault.layout import NOTICES, SET_ASIDE
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.attention.receipt import NoticeReceipt

_SHOWN = 5


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
        return [row("notices", said(found.problem))]
    told = said("; ").join(parts)
    lines = [row("notices", said("{told}: vault-agent notices list", told=told))] if parts else []
    return lines + [row("", f"  {_format_unheard(each)}") for each in found.unheard[:_SHOWN]]


def _format_unheard(receipt: "NoticeReceipt") -> str:
    """A reminder of which no channel has proved that it arrived, and where it stands meanwhile."""
    due = datetime.fromisoformat(receipt.raised.due)
    words = said("“{title}” was due at {at:%Y-%m-%d %H:%M}", title=one_line(receipt.raised.title), at=due)
    if receipt.problem:
        words += said("; {channel} has not taken it: {problem}", channel=receipt.channel, problem=said(receipt.problem))
    place = receipt.stands_in.partition(" ")[0]
    return words + (said("; it stands in {path}", path=place) if place else "")


if TYPE_CHECKING:  # most vaults have none
    from agent.growth.lessons.looks import UnreadAnswers


def unread_messages(workspace: Workspace) -> Mapping[str, int]:
    """How many messages were set aside, by the name of their channel."""
    if not has_records(workspace.vault, SET_ASIDE):
        return {}
    store = import_module("agent.attention.set_aside").SetAside(workspace.vault.private_folder / SET_ASIDE)
    return Counter(each.channel for each in store.all())


def format_unread_messages(found: Mapping[str, int]) -> list[str]:
    """A line if there are any; none otherwise."""
    one, more = "1 message by {name} cannot be read", "{count} messages by {name} cannot be read"
    told = said("; ").join(counted(count, one, more, name=name) for name, count in found.items())
    return [row("messages", said("{told}: vault-agent channels unread", told=told))] if told else []


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
