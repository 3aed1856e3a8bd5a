"""Builds the outbox of a vault's notices, for the daemon, for runs and for commands."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from agent.attention.channels.channel import Channel, Choice
from agent.attention.outbox import Outbox, preferred
from agent.attention.receipts import NoticeLedger
from agent.attention.rules import Limits, limits_of
from agent.events.bus import ignore_event
from agent.events.notices import NoticeRaised
from agent.vault.layout import NOTICES
from agent.workspace.workspace import Workspace, reload_settings


def open_ledger(workspace: Workspace) -> NoticeLedger:
    """The ledger of this machine's notices; raises `Permanent` if it cannot be used."""
    durable = workspace.settings.git.durable
    return NoticeLedger(workspace.vault.private_folder / NOTICES, workspace.clock, durable=durable)


def open_outbox(workspace: Workspace, publish: Callable[[object], object] = ignore_event) -> Outbox:
    """The outbox, which goes by the settings as they are at each moment; raises as `open_ledger` does."""
    return Outbox(
        open_ledger(workspace),
        workspace.clock,
        partial(_limits, workspace),
        partial(_channels, workspace),
        workspace.settings.vault.language,
        (workspace.vault.private_folder / NOTICES).with_name("sending.lock"),
        publish,
        workspace.vault.masked,
        choices=partial(_choices, workspace),
    )


def take_in(workspace: Workspace) -> Callable[[NoticeRaised, str], None]:
    """A function that notes notices in the outbox, once for each id; it sends none. The first one opens the ledger."""

    def take(notice: NoticeRaised, id: str = "") -> None:
        open_outbox(workspace).take(notice, id)

    return take


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
    module = import_module("agent.runs.decision_codes")  # needed for the message about a decision only
    found: tuple[Choice, ...] = module.choices_of(workspace, path)
    return found
