"""The calendars of `calendars.sources`, by their names: where each is, and who writes there. Of the machine, never of
a vault."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from agent.config.named_entries import NamedEntry, entries_of, home_path
from agent.config.secrets import Secret, reveal
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.texts import Sentence

_KEY = "calendars.sources"
FIELDS = ("", "file", "url", "caldav", "user", "password", "mine", "off")
"""What one may have; an empty name is that of a text in place of them."""


@dataclass(frozen=True, slots=True)
class CalendarConfig:
    """One calendar: a `file`, an address of a file, or the address of a CalDAV server or calendar. `is_mine`: nobody
    but the person writes there."""

    name: str
    file: str = ""
    url: str = ""
    caldav: str = ""
    user: str = ""
    password: Secret = Secret("")
    is_mine: bool = False

    @property
    def place(self) -> str:
        """Where it is, for people: the file, or the host alone, as the rest of an address may be a key."""
        return self.file or urlsplit(self.url or self.caldav).netloc.rpartition("@")[2]


def parse_calendars(sources: Secret) -> tuple[CalendarConfig, ...]:
    """The calendars of the setting that are not off.

    Raises `ConfigError` with the key that is wrong, and `MissingKey` for an address that is not where it should be.
    """
    text = reveal(sources) if sources.reference else ""
    return tuple(_calendars(text))


def _calendars(text: str) -> Iterator[CalendarConfig]:
    for entry in entries_of(_KEY, text):
        entry.refuse_others(FIELDS)
        if entry.truth("off"):
            continue
        file, url, caldav = (_place(entry, field) for field in ("file", "url", "caldav"))
        place = _place(entry, "")
        if place:
            file, url = ("", place) if "://" in place else (place, url)
        if sum(map(bool, (file, url, caldav))) != 1:
            hint = "a calendar has one of file, url and caldav"
            raise ConfigError("{key} needs one place", hint=hint, key=entry.key)
        url = url.replace("webcal://", "https://", 1)
        for field, address in (("url", url), ("caldav", caldav)):
            if address and not _is_address(address):
                raise entry.wrong(field, Sentence("an address that begins with https://"))
        if file and not Path(home_path(file)).is_absolute():
            raise entry.wrong("file", Sentence("a whole path, such as ~/Calendars/home.ics"))
        password = Secret(entry.text("password"))
        yield CalendarConfig(
            entry.name, home_path(file), url, caldav, entry.text("user"), password, entry.truth("mine")
        )


def _place(entry: NamedEntry, field: str) -> str:
    """The file or address in a field, looked up if it is a reference; `file:///…` is none."""
    written = entry.text(field)
    secret = Secret(written)
    if not written or secret.is_literal or written.startswith("file:///"):
        return written.removeprefix("file://")
    return reveal(secret)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
