"""What a reader is told of an event of the daemon, kept as it is sent: an event itself holds on to a note's changes."""

from dataclasses import fields, is_dataclass

import msgspec

from agent.background.feed import Feed
from agent.dataclass import dataclass
from agent.events.types import FilesChanged, Tick, TurnEnded

_NEVER_SHOWN = (Tick, TurnEnded, FilesChanged)
"""Events of each turn of the daemon, which tell a reader nothing."""


@dataclass(frozen=True, slots=True)
class Happening:
    """An event's name, and its fields that are plain values as a JSON object."""

    name: str
    data: bytes


def take_in(changes: Feed[Happening], event: object) -> None:
    """Put an event of the daemon into the feed, unless it is one of each turn."""
    if not isinstance(event, _NEVER_SHOWN):
        changes.put(Happening(type(event).__name__, msgspec.json.encode(_plain(event), enc_hook=str)))


def _plain(event: object) -> dict[str, str | int | float | bool | None]:
    """The event's fields that are plain values; a `Sentence` is a text."""
    if not is_dataclass(event):
        return {}
    found = {each.name: getattr(event, each.name) for each in fields(event)}
    return {name: value for name, value in found.items() if isinstance(value, str | int | float | bool | None)}
