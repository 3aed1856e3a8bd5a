"""Builds the outbox of a vault's notices, for the daemon, for runs and for commands."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from agent.app.notice_ledger import open_ledger
from agent.attention.channels.channel import Channel, Choice
from agent.attention.outbox import Outbox, preferred
from agent.attention.rules import Limits, limits_of
from agent.clock import in_machine_seconds
from agent.events.notices import NoticeRaised
from agent.metrics.collect import Collector
from agent.workspace.workspace import Workspace, is_watched, reload_settings


def open_outbox(workspace: Workspace, publish: Callable[[object], object] | None = None) -> Outbox:
    """The outbox, which goes by the settings as they are at each moment; raises as `open_ledger` does. Without a bus to
    publish it on, what it publishes is counted."""
    return Outbox(
        open_ledger(workspace),
        workspace.clock,
        partial(_limits, workspace),
        partial(_channels, workspace),
        workspace.settings.vault.language,
        workspace.vault.private_folder / "sending.lock",
        publish or partial(_count, workspace),
        workspace.vault.masked,
        choices=partial(_choices, workspace),
    )


def _count(workspace: Workspace, event: object) -> None:
    """Count one event in the metrics."""
    collector = Collector(workspace.metrics, workspace.vault.clock)
    collector.hear(event)
    collector.save()


_RAISED: list[tuple[Workspace, str]] = []
"""The notices that this process has noted for vaults without a daemon, which would send them."""


def take_in(workspace: Workspace) -> Callable[[NoticeRaised, str], None]:
    """A function that notes notices in the outbox, once for each id; it sends none. The first one opens the ledger."""

    def take(notice: NoticeRaised, id: str = "") -> None:
        receipt = open_outbox(workspace).take(notice, id)
        if not is_watched(workspace):
            _RAISED.append((workspace, receipt.id))

    return take


def send_raised(seconds: float) -> int:
    """Send what this process has noted where no daemon runs, for so many seconds at most; returns how many of these
    notices still wait. Raises as `open_ledger` does."""
    raised = [(workspace, id) for workspace, id in _RAISED if not is_watched(workspace)]
    _RAISED.clear()
    if not raised:
        return 0
    workspace = raised[0][0]
    clock = in_machine_seconds(workspace.clock)
    until = clock.monotonic() + seconds
    outbox = open_outbox(workspace)
    outbox.review()
    outbox.deliver(lambda: clock.monotonic() >= until)
    found = [outbox.ledger.get(id) for _, id in raised]
    return sum(each is not None and (each.is_undelivered or each.decision.decided == "held") for each in found)


def raised_in_runs(workspace: Workspace) -> Callable[[NoticeRaised], None]:
    """A function that notes the notices of runs in the outbox."""
    take = take_in(workspace)
    return lambda notice: take(notice, "")


def _limits(workspace: Workspace) -> Limits:
    return limits_of(reload_settings(workspace).settings.attention)


def _channels(workspace: Workspace) -> Mapping[str, Channel]:
    fresh = reload_settings(workspace)
    module = import_module("agent.app.channels")  # all services: slow to load, and needed once something is raised
    found: Mapping[str, Channel] = module.open_channels(fresh)
    return preferred(found, fresh.settings.channels.order)


def _choices(workspace: Workspace, path: str) -> tuple[Choice, ...]:
    module = import_module("agent.runs.replies")  # needed for the message about a decision only
    found: tuple[Choice, ...] = module.choices_of(workspace, path)
    return found
