"""The checks of what the person has set up outside of the vault in `doctor`: servers with tools, and calendars."""

from collections.abc import Iterator
from datetime import timedelta

from agent.calendars.reading import UnreadableCalendar
from agent.runs.calendars import calendar_configs, calendar_store, refresh_calendars
from agent.runs.reach import out_of_reach
from agent.runs.servers import server_links
from agent.schedule.occurrences import machine_zone
from agent.tools.builtin.servers.session import START_SECONDS
from agent.vault.health.probe import Check, guarded, ok, warn
from agent.workspace.workspace import Workspace

_SHOWN = 12
_DAYS = timedelta(days=7)


def server_checks(workspace: Workspace) -> list[Check]:
    """Start each server of `tools.servers`, and name its tools; no check without any."""
    return guarded("servers", lambda: _servers(workspace)) if workspace.settings.tools.servers else []


def _servers(workspace: Workspace) -> Iterator[Check]:
    for link in server_links(workspace):
        name = link.config.name
        link.look(START_SECONDS + 1)
        if link.problem:
            words = (workspace.vault.masked(link.words),) if link.words else ()
            helps = "vault-agent config get tools.servers shows how it is started"
            yield warn("servers", "{name}: {problem}", words, helps, name=name, problem=link.problem)
            continue
        names = [tool.name for tool in link.known()]
        more = (f"and {len(names) - _SHOWN} more",) if len(names) > _SHOWN else ()
        yield ok("servers", "{name} works; tools: {count}", (*names[:_SHOWN], *more), name=name, count=len(names))


def calendar_checks(workspace: Workspace) -> list[Check]:
    """Look at each calendar of `calendars.sources`; no check without any."""
    has_some = bool(workspace.settings.calendars.sources.reference)
    return guarded("calendars", lambda: _calendars(workspace)) if has_some else []


def _calendars(workspace: Workspace) -> Iterator[Check]:
    configs, store, today = calendar_configs(workspace), calendar_store(workspace), workspace.clock.now().date()
    refresh_calendars(workspace, minutes=0)
    away = {each.name: each.problem for each in out_of_reach(workspace, "calendar")}
    for config in configs:
        problem = away.get(config.name)
        try:
            found = store.read(config, today, today + _DAYS, machine_zone())
        except UnreadableCalendar as error:
            problem = error.problem
        if problem:
            yield warn("calendars", "{name}: {problem}", name=config.name, problem=problem)
        elif found.left:
            yield warn(
                "calendars", "{name} has events that cannot be read: {count}", name=config.name, count=found.left
            )
        else:
            yield ok(
                "calendars",
                "{name} can be read; events in the next seven days: {count}",
                name=config.name,
                count=len(found.events),
            )
