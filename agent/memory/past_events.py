"""What happened on given days: what was asked, what was said, which notes the person changed by hand.

Read from the daily log, the entries and the history. Quoting, and who may be shown what, is left to the caller.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias, get_args

from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.memory import daily
from agent.memory.entry import EntryType
from agent.memory.store import load_entries
from agent.vault.file_changes import Kind
from agent.vault.folders import DAILY, ENTRIES, WriteRule
from agent.vault.history.find import commits
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note

PastKind: TypeAlias = Literal["asked", "said", "edited"]
"""What was asked of the agent, what was stated or told, and notes that the person changed by hand."""
KINDS: tuple[PastKind, ...] = get_args(PastKind)
_TOLD = frozenset(kind for kind in EntryType if kind.is_stated) | {EntryType.CHAT_TURN}


@dataclass(frozen=True, slots=True)
class PastEvent:
    """One thing that happened: on which day, at what time (empty: not known), in which note and lines of it.

    `text` is what was asked or said; of an edit, what was done, such as `edited 3 times`. `sender` said it, empty for
    the vault's owner; `chat` is the group in which it was said. `link` leads to the conversation, and may be empty.
    `is_replaced`: another statement has taken its place since.
    """

    day: date
    time: str
    kind: PastKind
    text: str
    path: str
    lines: tuple[int, int] | None = None
    link: str = ""
    sender: str = ""
    chat: str = ""
    is_replaced: bool = False


def past_events(vault: Vault, first: date, last: date, kinds: Collection[PastKind] = KINDS) -> list[PastEvent]:
    """What happened from the first to the last day, the latest first."""
    found: list[PastEvent] = []
    if "asked" in kinds:
        found += _asked(vault, first, last)
    if "said" in kinds:
        found += _said(vault, first, last)
    if "edited" in kinds:
        found += _edited(vault, first, last)
    return sorted(found, key=lambda each: (each.day, each.time, each.path), reverse=True)


def _asked(vault: Vault, first: date, last: date) -> Iterator[PastEvent]:
    """The tasks in the logs of the days."""
    for path in _day_notes(vault):
        day = vault.home.day_of(path)
        if day is None or not first <= day <= last:
            continue
        text = (vault.read(path) or b"").decode("utf-8", "replace")
        rows = text.split("\n")
        for each in daily.log(text):
            heads = (f"## {each.time} - {each.title}", f"### {each.time} - {each.title}")
            at = next((number for number, row in enumerate(rows, 1) if row.rstrip().startswith(heads)), 1)
            yield PastEvent(day, each.time, "asked", each.title, path, (at, at), each.session)


def _day_notes(vault: Vault) -> Iterator[str]:
    """The paths among which the notes of days are: those of a folder, or all where its form has folders in it."""
    if vault.home.days is not None:
        yield from vault.note_paths(vault.home.days.folder.rstrip("/"))
    folder = Path(vault.place.root, vault.home.path + DAILY)
    for file in folder.glob("*.md") if folder.is_dir() else ():
        yield file.relative_to(vault.place.root).as_posix()


def _said(vault: Vault, first: date, last: date) -> Iterator[PastEvent]:
    """What was stated, or told in a turn, by the day of its entry."""
    for each in load_entries(vault, _entry_paths(vault, first, last)):
        entry = each.entry
        if entry.type not in _TOLD:
            continue
        begin = max(each.data.decode("utf-8", "replace").count("\n") - entry.text.count("\n"), 1)
        lines = (begin, begin + entry.text.count("\n"))
        at = in_clock_zone(entry.created, vault.clock.now())
        chat = entry.chat_id if entry.scope == "chat" else ""
        yield PastEvent(
            at.date(), f"{at:%H:%M}", "said", entry.text, each.path, lines, sender=entry.sender_id, chat=chat,
            is_replaced=bool(entry.superseded_by),
        )  # fmt: skip


def _entry_paths(vault: Vault, first: date, last: date) -> Iterator[str]:
    """The entries by the day that their names begin with."""
    root, folder = vault.place.root, vault.home.at(ENTRIES)
    for month in sorted(Path(root, folder).glob("[0-9][0-9][0-9][0-9]/[0-9][0-9]")):
        named = f"{month.parent.name}-{month.name}"
        if f"{first:%Y-%m}" <= named <= f"{last:%Y-%m}":
            names = (file.name for file in month.glob(f"{named}-*.md"))
            yield from (
                f"{folder}{month.parent.name}/{month.name}/{name}"
                for name in names
                if first.isoformat() <= name[:10] <= last.isoformat()
            )


def _edited(vault: Vault, first: date, last: date) -> Iterator[PastEvent]:
    """The notes that the person changed by hand, once for each day."""
    now = vault.clock.now()
    begin = in_clock_zone(datetime.combine(first, time()), now)
    end = in_clock_zone(datetime.combine(last, time(23, 59, 59)), now)
    made = [each for each in commits(vault, actor="human", since=begin, until=end) if not (each.tool or each.undoes)]
    others = vault.provenance.made_by_others([each.id for each in made])
    counts: dict[tuple[date, str], list[tuple[str, Kind]]] = {}
    for each in made:
        when = in_clock_zone(each.when, now)
        for change in each.files if each.id not in others else ():
            if is_note(change.path) and vault.home.row(change.path).write is not WriteRule.PROGRAM:
                counts.setdefault((when.date(), change.path), []).append((f"{when:%H:%M}", change.kind))
    for (day, path), changes in counts.items():
        yield PastEvent(day, changes[0][0], "edited", _counted([kind for _, kind in changes]), path)


def _counted(kinds: Sequence[Kind]) -> str:
    """What was done to a note on a day, the last change first in `kinds`."""
    if kinds[0] in {Kind.DELETED, Kind.RENAMED}:
        return str(kinds[0])
    if Kind.CREATED in kinds:
        return "created"
    return f"edited {len(kinds)} times" if len(kinds) > 1 else "edited"


def day_in(path: str) -> str:
    """The day (ISO) that the name of a note begins with; empty for other names."""
    name = PurePosixPath(path).name[:10]
    try:
        return date.fromisoformat(name).isoformat() if len(name) == 10 else ""
    except ValueError:
        return ""
