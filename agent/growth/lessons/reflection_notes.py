"""The notes of reflections: one a day, `reflections/2026/11/2026-11-22-reflections.md`, to which each is added.

One note a day, so that a month of use is thirty notes and not six hundred. The form in them is left to
`reflection_format`.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path

from agent.dataclass import dataclass
from agent.growth.lessons.reflection import Reflection
from agent.growth.lessons.reflection_format import format_reflection, parse_reflections
from agent.markdown.note import Note
from agent.markdown.session_marks import MarkedText, find_records, open_record
from agent.runs.status import growth_account
from agent.texts import Language, text
from agent.vault.change import Append, Stamp, actor_of
from agent.vault.folders import REFLECTIONS, AgentFolder
from agent.vault.store import Vault

TYPE = "reflections"
ACCOUNT = growth_account("reflections")
"""The account under which reflections ask models, and the job of their commits."""
TOOL = "reflection"
LOOK_BACK = "lookback"
"""The kind of the record of a look back, which plans and judges no run."""
_NAME = re.compile(r"(\d{4}-\d\d-\d\d)-reflections")


def reflections_name(day: date) -> str:
    """The note with the reflections of a day, as the table of folders names it."""
    return f"{REFLECTIONS}{day:%Y/%m}/{day.isoformat()}-reflections.md"


def write_reflection(vault: Vault, reflection: Reflection, language: Language) -> str | None:
    """Add a reflection to its note, in a commit; returns that, None if the write waits. Raises what a transaction
    raises."""
    subject = f"reflection({reflection.trigger}): {reflection.heading.partition(' ')[2] or reflection.at.date()}"
    with vault.transaction(subject, Stamp(actor_of(ACCOUNT), tool=TOOL), masked=True) as change:
        formatted = format_reflection(reflection, language)
        change.requests.append(append_record(reflection.path, reflection.at.date(), formatted, language))
    return change.outcome.commit


def append_look_back(home: AgentFolder, at: datetime, heading: str, words: str, language: Language) -> Append:
    """The request that adds what a look back on the last hours has found to the day's note, below this heading."""
    record = MarkedText(LOOK_BACK, {"at": at.replace(microsecond=0).isoformat()}, words)
    formatted = open_record(record, f"{at:%H:%M} {heading}", level=2)
    return append_record(home.at(reflections_name(at.date())), at.date(), formatted, language)


def append_record(path: str, day: date, record: str, language: Language) -> Append:
    """The request that adds a record to the note of a day. Two machines begin the note with the same bytes."""
    head = Note.compose({"type": TYPE, "date": day}, f"# {text('reflection.title', language, day=day)}\n\n")
    return Append(path, record.encode("utf-8", "replace"), head.data)


@dataclass(frozen=True, slots=True)
class LookBack:
    """A look back on the last hours: when, and what it found."""

    at: datetime
    text: str


def last_look_back(vault: Vault, days: Iterable[date]) -> LookBack | None:
    """The last look back on these days; None without one."""
    found: list[LookBack] = []
    for day in days:
        note = Note.parse(vault.own_version_of(reflections_name(day)) or b"")
        records = (each for each in find_records(note.body) if each.kind == LOOK_BACK)
        for each in records:
            with suppress(ValueError):
                found.append(LookBack(datetime.fromisoformat(str(each.data.get("at", ""))), each.text))
    return max((each for each in found if each.at.tzinfo is not None), key=lambda each: each.at, default=None)


def load_reflections(vault: Vault, since: date | None = None) -> tuple[Reflection, ...]:
    """The reflections of the days from `since` on (None: all), the oldest first, each with the person's opinion of it.

    Text that arrived from elsewhere and that the person has not looked at is left out.
    """
    found: list[Reflection] = []
    for path in _paths(vault, since):
        data = vault.own_version(path)
        found += parse_reflections(path, data) if data is not None else ()
    return tuple(sorted(found, key=lambda each: each.at))


def _paths(vault: Vault, since: date | None) -> Iterator[str]:
    """The paths of the days' notes; of two machines one day may have two, the second with a number in its name."""
    folder = vault.home.at(REFLECTIONS)
    place = Path(vault.place.root, folder)
    for file in sorted(place.glob("[0-9][0-9][0-9][0-9]/[0-9][0-9]/*.md")):
        named = _NAME.match(file.name)
        if named is not None and (since is None or named[1] >= since.isoformat()):
            yield folder + file.relative_to(place).as_posix()
