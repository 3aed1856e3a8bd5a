"""Who waits for whom: answers and promises that the person owes, and what they wait for from others.

Found in open boxes without a day anywhere, and in what was written or told lately: an old line without a box has no
sign that it is over. A line that is struck out or ticked is.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Literal, TypeAlias, get_args

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.markdown.tasks import TaskDates, plain_task_words
from agent.memory import daily
from agent.memory.store import entry_paths_on, load_entries
from agent.memory.understanding.wording import similarity, wording
from agent.runs.briefing.dated import day_of_note, own_lines, tells_of_past
from agent.runs.owner import is_stated_by_owner
from agent.texts import Language, text
from agent.tools.text_origin import text_origin_of
from agent.vault.history.find import commits
from agent.vault.store import Vault
from agent.vault.task_lines import open_tasks, own_notes

Owed: TypeAlias = Literal["owes_reply", "promised_by_person", "awaited_by_person"]
OWED: tuple[Owed, ...] = get_args(Owed)
_DAYS = 14
"""For how many days a line without a box counts."""
_IMPORT = 50
"""The files of a commit from which it is no writing of its day but an import."""
_NOTES = 200
_SAME = 0.6
"""The likeness of two lines from which they speak of one thing."""


@dataclass(frozen=True, slots=True)
class OwedLine:
    """Words of a note at `path` about something that is owed."""

    kind: Owed
    words: str
    path: str

    @property
    def says_kind(self) -> bool:
        """True if the words say themselves what the kind says."""
        return pattern(self.kind).search(self.words.replace("’", "'")) is not None


def owed_lines(vault: Vault, now: datetime, language: Language) -> tuple[OwedLine, ...]:
    """The lines about what is owed, the boxes first; of lines that say nearly the same the first."""
    found: list[OwedLine] = []
    for each in (
        *_boxes(vault, now.date()),
        *_lines(vault, now),
        *_stated(vault, now),
        *_summed_up(vault, now, language),
    ):
        candidate = wording(each.words)
        if not any(similarity(wording(one.words), candidate) >= _SAME for one in found):
            found.append(each)
    return tuple(sorted(found, key=lambda each: OWED.index(each.kind)))


def _kind(words: str) -> Owed | None:
    return next((each for each in OWED if pattern(each).search(words.replace("’", "'"))), None)


def _boxes(vault: Vault, today: date) -> Iterator[OwedLine]:
    def is_owed(words: str, dates: TaskDates) -> bool:
        return dates.day is None and not dates.is_closed and _kind(words) is not None

    for box in open_tasks(vault, today, is_owed, lambda _: 0):
        if (kind := _kind(box.text)) is not None:
            yield OwedLine(kind, plain_task_words(box.text), box.path)


def _lines(vault: Vault, now: datetime) -> Iterator[OwedLine]:
    """The lines without a box in notes that were written lately, unless their day is over."""
    for path in own_notes(vault, _written_lately(vault, now))[-_NOTES:]:
        for line in own_lines(vault, path):
            kind = _kind(line.words) if line.box is None else None
            if kind is not None and not tells_of_past(line.words, now.date(), day_of_note(vault, path)):
                yield OwedLine(kind, line.words, path)


def _written_lately(vault: Vault, now: datetime) -> set[str]:
    made = commits(vault, actor="human", since=now - timedelta(days=_DAYS))
    paths = {change.path for each in made if len(each.files) <= _IMPORT for change in each.files}
    paths |= {item.path for item in vault.changed_files()}
    paths |= {vault.home.day_note(now.date() - timedelta(days=back)) for back in range(_DAYS)}
    return {path for path in paths if vault.read(path) is not None}


def _stated(vault: Vault, now: datetime) -> Iterator[OwedLine]:
    """The person's statements in memory."""
    days = (now.date() - timedelta(days=back) for back in range(_DAYS))
    foreign = text_origin_of(vault)
    for each in load_entries(vault, (path for day in days for path in entry_paths_on(vault, day))):
        words = each.entry.text.partition("\n")[0]
        kind = _kind(words)
        is_over = tells_of_past(words, now.date(), each.entry.created.date())
        if kind is not None and not is_over and is_stated_by_owner(each, foreign):
            yield OwedLine(kind, words, each.path)


def _summed_up(vault: Vault, now: datetime, language: Language) -> Iterator[OwedLine]:
    """The promises in the summaries of the last week."""
    begin = f"- {text('memory_day.promised', language)}"
    for back in range(1, 8):
        path = vault.home.day_note(now.date() - timedelta(days=back))
        note = (vault.own_version(path) or b"").decode("utf-8", "replace")
        for line in (daily.summary_of(note) or "").splitlines():
            if line.startswith(begin):
                yield OwedLine("promised_by_person", line.removeprefix(begin).partition(" [[")[0], path)
