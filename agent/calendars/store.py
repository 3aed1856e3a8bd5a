"""The copies of the calendars in the cache: fetched anew when they are old, kept while a calendar cannot be reached.

A copy is the calendar's bytes, and beside it what a server needs to say that nothing has changed. Both may be deleted
at any time.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from hashlib import sha256
from pathlib import Path

from agent.calendars.caldav import RemoteCalendar, events_between, find_calendars
from agent.calendars.fetch import MOST_BYTES, CalendarNetwork
from agent.calendars.reading import ReadCalendar, UnreadableCalendar, read_calendar
from agent.clock import Clock
from agent.config import private
from agent.config.calendars import CalendarConfig
from agent.config.private import make_folder
from agent.config.secrets import reveal
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.texts import Sentence

_BACK, _AHEAD = timedelta(days=31), timedelta(days=430)
"""The time of which a CalDAV server is asked, before and after the first day of this month."""
_SPAN = "span"
"""The tag with that time; none where the copy is the whole calendar."""
_EMPTY = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//vault-agent//EN\r\nEND:VCALENDAR\r\n"


@dataclass(frozen=True, slots=True)
class _About:
    """What is known of a copy: for which settings (`digest`), when it was `tried` (ISO), the server's tags by address,
    the `mark` of its events, and the SHA-256 of its bytes (`copy`); `problem` and `values` are why it could not be
    fetched last."""

    digest: str = ""
    tried: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    mark: str = ""
    copy: str = ""
    problem: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What came of a look at a calendar: `is_changed` if its events are others than before, `problem` why it could not
    be read (empty: it could)."""

    is_changed: bool = False
    problem: Sentence = Sentence("")


@dataclass(frozen=True, slots=True)
class CalendarStore:
    """The copies in one folder; `trust_file` as in `CalendarNetwork`."""

    folder: Path
    clock: Clock
    trust_file: str = ""

    def refresh(self, config: CalendarConfig, minutes: float) -> Refreshed:
        """Fetch a calendar if its copy is as old as this, or was tried as long ago. Raises `MissingKey`."""
        about, now = self._about(config), self.clock.now()
        last = _time(about.tried)
        has_copy = self._bytes(config, about) is not None
        is_damaged = bool(about.mark) and not has_copy and not about.problem
        if last is not None and timedelta() <= now - last < timedelta(minutes=minutes) and not is_damaged:
            return Refreshed(problem=Sentence(about.problem, **about.values))
        tried = replace(about, digest=_digest(config), tried=now.isoformat(), problem="", values={})
        try:
            data, tags = self._fetched(config, about.tags if has_copy else {}, now.date())
            if data is None:
                self._write_about(config, tried)
                return Refreshed()
            mark = read_calendar(data, config.name, now.date(), now.date(), UTC).mark
        except UnreadableCalendar as error:
            values = {name: str(each) for name, each in error.problem.values.items()}
            self._write_about(config, replace(tried, problem=error.problem.english, values=values))
            return Refreshed(problem=error.problem)
        make_folder(self.folder)
        private.replace_bytes(self._copy(config), data)
        self._write_about(config, replace(tried, tags=tags, mark=mark, copy=sha256(data).hexdigest()))
        return Refreshed(bool(about.mark) and mark != about.mark)

    def read(self, config: CalendarConfig, first: date, last: date, zone: tzinfo) -> ReadCalendar:
        """What the copy has on these days; nothing without a copy. Raises `UnreadableCalendar`."""
        data = self._bytes(config, self._about(config))
        if data is None:
            return ReadCalendar()
        return read_calendar(data, config.name, first, last, zone, is_mine=config.is_mine)

    def _bytes(self, config: CalendarConfig, about: _About) -> bytes | None:
        """The copy; None if there is none, or a damaged one."""
        try:
            data = self._copy(config).read_bytes()
        except OSError:
            return None
        return data if about.mark and sha256(data).hexdigest() == about.copy else None

    def _fetched(
        self, config: CalendarConfig, tags: Mapping[str, str], today: date
    ) -> tuple[bytes | None, Mapping[str, str]]:
        """The calendar's bytes and tags; None if they are the same as before."""
        password = reveal(config.password) if config.password.reference else ""
        network = CalendarNetwork(self.clock, config.user, password, self.trust_file)
        if config.file:
            return _file(Path(config.file), tags)
        if config.url:
            return _address(network, config.url, tags)
        found = find_calendars(network, config.caldav)
        first, last = today.replace(day=1) - _BACK, today.replace(day=1) + _AHEAD
        fresh = {each.url: each.tag for each in found} | {_SPAN: f"{first} {last}"}
        if fresh == dict(tags) and all(fresh.values()):
            return None, fresh
        return _all_events(network, found, first, last), fresh

    def span(self, config: CalendarConfig) -> tuple[date, date] | None:
        """The first and the last day of which the copy has the events; None if it has all."""
        found = self._about(config).tags.get(_SPAN, "").split()
        return (date.fromisoformat(found[0]), date.fromisoformat(found[1])) if found else None

    def keep_only(self, names: Collection[str]) -> None:
        """Delete the copies of calendars with other names."""
        for path in self.folder.glob("*.*"):
            if path.stem not in names and path.suffix in (".ics", ".json"):
                path.unlink(missing_ok=True)

    def _copy(self, config: CalendarConfig) -> Path:
        return self.folder / f"{config.name}.ics"

    def _about(self, config: CalendarConfig) -> _About:
        """What is known of the copy; nothing for a copy that was made by other settings."""
        try:
            found = _About(**parse_json((self.folder / f"{config.name}.json").read_bytes()))
        except (OSError, ValueError, TypeError):
            return _About()
        return found if found.digest == _digest(config) else _About()

    def _write_about(self, config: CalendarConfig, about: _About) -> None:
        make_folder(self.folder)
        private.replace(self.folder / f"{config.name}.json", json.dumps(asdict(about)))


def _digest(config: CalendarConfig) -> str:
    parts = (config.file, config.url, config.caldav, config.user)
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def _file(path: Path, tags: Mapping[str, str]) -> tuple[bytes | None, Mapping[str, str]]:
    try:
        status = path.stat()
        fresh = {"file": f"{status.st_size} {status.st_mtime_ns} {status.st_ino}"}
        if fresh == dict(tags):
            return None, fresh
        if status.st_size > MOST_BYTES or not path.is_file():
            raise UnreadableCalendar(Sentence("it is larger than {size} MB", size=MOST_BYTES >> 20))
        return path.read_bytes(), fresh
    except OSError as error:
        raise UnreadableCalendar(Sentence("the file {path} cannot be read", path=path)) from error


def _address(network: CalendarNetwork, url: str, tags: Mapping[str, str]) -> tuple[bytes | None, Mapping[str, str]]:
    known = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}
    headers = {"Accept": "text/calendar,*/*;q=0.5"} | {
        known[name]: value for name, value in tags.items() if name in known
    }
    answer = network.ask("GET", url, headers)
    if answer.status == 304 and tags:
        return None, tags
    if answer.status != 200:
        host = CalendarConfig("", url=url).place
        raise UnreadableCalendar(Sentence("{host} answered {status}", host=host, status=answer.status))
    return answer.body, {name: answer.headers[name] for name in known if name in answer.headers}


def _all_events(network: CalendarNetwork, found: tuple[RemoteCalendar, ...], first: date, last: date) -> bytes:
    whole = bytearray()
    for each in found:
        whole += events_between(network, each, first, last) + b"\r\n"
        if len(whole) > 4 * MOST_BYTES:
            raise UnreadableCalendar(Sentence("it is larger than {size} MB", size=4 * MOST_BYTES >> 20))
    return bytes(whole).strip() or _EMPTY
