"""The person's calendars for runs, briefings and the daemon: their events, and which of them could not be read."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date, tzinfo

from agent.calendars.event import CalendarEvent, events_on
from agent.calendars.reading import UnreadableCalendar
from agent.calendars.store import CalendarStore
from agent.clock import clock_zone
from agent.config.calendars import CalendarConfig, parse_calendars
from agent.config.secrets import known_secrets
from agent.dataclass import dataclass
from agent.errors import AgentError, os_reason
from agent.llm.messages import Cancelled, never
from agent.runs.reach import OutOfReach, keep_only, note_reach, out_of_reach
from agent.schedule.occurrences import machine_zone
from agent.texts import Sentence
from agent.workspace.workspace import Workspace

FOLDER = "calendars"
"""The folder in the cache with the copies."""


@dataclass(frozen=True, slots=True)
class Agenda:
    """The events on some days, in the order of their times, and the calendars that could not be read lately.

    `left` are the numbers of events that could not be read, by calendar; `beyond` are the calendars of which not all of
    these days are known.
    """

    events: Sequence[CalendarEvent] = ()
    away: Sequence[OutOfReach] = ()
    left: Mapping[str, int] = field(default_factory=dict)
    beyond: Sequence[str] = ()


def calendar_configs(workspace: Workspace) -> tuple[CalendarConfig, ...]:
    """The calendars of the settings; their addresses and keys are masked from now on in all that is written and shown.

    Raises `ConfigError` and `MissingKey` for settings that cannot be used.
    """
    found = parse_calendars(workspace.settings.calendars.sources)
    addresses = [each.url or each.caldav for each in found]
    keys = known_secrets((each.password for each in found), addresses=addresses)
    workspace.vault.known.learn((*(each.url for each in found if each.url), *keys))
    return found


def calendar_store(workspace: Workspace) -> CalendarStore:
    """The copies of the vault's calendars."""
    return CalendarStore(workspace.cache / FOLDER, workspace.clock)


def refresh_calendars(
    workspace: Workspace, cancelled: Cancelled = never, minutes: float | None = None
) -> tuple[str, ...]:
    """Fetch the calendars whose copies are older than so many minutes, by default than the settings say; the names of
    those whose events have changed.

    Raises `ConfigError` and `MissingKey` for settings that cannot be used.
    """
    minutes = workspace.settings.calendars.minutes if minutes is None else minutes
    store, changed, known = calendar_store(workspace), list[str](), calendar_configs(workspace)
    names = {each.name for each in known}
    keep_only(workspace, "calendar", names)
    store.keep_only(names)
    for config in known:
        if cancelled():
            break
        try:
            found = store.refresh(config, minutes)
            problem = found.problem
            changed += [config.name] if found.is_changed else []
        except AgentError as error:  # its password is not there
            problem = Sentence("{problem}", problem=error)
        except OSError as error:
            problem = Sentence("its copy cannot be kept: {reason}", reason=os_reason(error))
        note_reach(workspace, "calendar", config.name, problem)
    return tuple(changed)


def agenda(workspace: Workspace, first: date, last: date, zone: tzinfo | None = None) -> Agenda:
    """The events from `first` to `last`, both included, in a zone, by default the clock's; the calendars are fetched if
    their copies are old. Empty where there are none. Settings that cannot be used are a calendar that cannot be read.
    """
    zone = zone or clock_zone(workspace.clock.now()) or machine_zone()
    if not workspace.settings.calendars.sources.reference:
        return Agenda()
    try:
        configs = calendar_configs(workspace)
    except AgentError as error:
        now = workspace.clock.now()
        return Agenda((), (OutOfReach("calendar", "calendars.sources", now, "{problem}", {"problem": error.message}),))
    refresh_calendars(workspace)
    store, found = calendar_store(workspace), list[CalendarEvent]()
    left, beyond = dict[str, int](), list[str]()
    for config in configs:
        try:
            read, span = store.read(config, first, last, zone), store.span(config)
            found += read.events
            left |= {config.name: read.left} if read.left else {}
            beyond += [config.name] if span is not None and not span[0] <= first <= last <= span[1] else []
        except UnreadableCalendar as error:
            note_reach(workspace, "calendar", config.name, error.problem)
    away = out_of_reach(workspace, "calendar")
    return Agenda(events_on(found, first, last), away, left, beyond)
