"""Who waits for whom: answers and promises that the person owes, and what they wait for from others.

Found in open boxes without a day anywhere, and in what was written or told lately: an old line without a box has no
sign that it is over. A line that is struck out or ticked is. One of which a later line seems to tell the end, as "sent
Rui the offer" does, is named with that line: only its person, or a model that has both, can say if it is over.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Literal, TypeAlias, get_args

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.markdown.tasks import TaskDates, plain_task_words
from agent.memory import daily
from agent.memory.capture.facts import shared
from agent.memory.store import entry_paths_on, load_entries
from agent.memory.understanding.statements import is_question
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
_NAME = re.compile(r"(?<=[\w,] )[A-Z][^\W\d_]+")


@dataclass(frozen=True, slots=True)
class OwedLine:
    """Words of a note at `path` about something that is owed, of a `day` if that is known. `end` is the later line that
    may tell that it is over."""

    kind: Owed
    words: str
    path: str
    day: date | None = None
    end: "OwnSentence | None" = None

    @property
    def says_kind(self) -> bool:
        """True if the words say themselves what the kind says."""
        return pattern(self.kind).search(self.words.replace("’", "'")) is not None


@dataclass(frozen=True, slots=True)
class OwnSentence:
    """A sentence of the person's in a note at `path`, of a `day` if that is known."""

    words: str
    path: str
    day: date | None


def own_sentences(vault: Vault, now: datetime) -> tuple[OwnSentence, ...]:
    """What the person has written or stated lately."""
    return (*_written(vault, now), *_stated(vault, now))


def owed_lines(vault: Vault, now: datetime, lately: Sequence[OwnSentence], language: Language) -> tuple[OwedLine, ...]:
    """The lines about what is owed, the boxes first; of lines that say nearly the same the first."""
    found: list[OwedLine] = []
    for each in (*_boxes(vault, now.date()), *_owed(lately, now.date()), *_summed_up(vault, now, language)):
        candidate = wording(each.words)
        if not any(similarity(wording(one.words), candidate) >= _SAME for one in found):
            found.append(each)
    found.sort(key=lambda one: OWED.index(one.kind))
    return tuple(replace(each, end=end_of(each.words, each.day, lately)) for each in found)


def _owed(sentences: Sequence[OwnSentence], today: date) -> Iterator[OwedLine]:
    """The sentences about what is owed, unless their day is over."""
    for each in sentences:
        kind = _kind(each.words)
        if kind is not None and not tells_of_past(each.words, today, each.day):
            yield OwedLine(kind, each.words, each.path, each.day)


def _tells_an_end(words: str) -> bool:
    """True for a sentence that tells that something was done."""
    is_over = pattern("finished").search(words) is not None and not is_question(words)
    return is_over and _kind(words) is None and not wording(words).negated


def end_of(words: str, day: date | None, lately: Sequence[OwnSentence]) -> OwnSentence | None:
    """The last sentence of that day or a later one that may tell the end of what these words say is owed: it has most
    of them, and a name that is in them. None without one, and for words about anything else."""
    if _kind(words) is None:
        return None
    names = frozenset(_NAME.findall(words))
    later = (each for each in lately if each.day is not None and (day is None or each.day >= day))
    near = (each for each in later if shared(words, each.words) >= _SAME and _tells_an_end(each.words))
    found = (each for each in near if not names or any(name in each.words for name in names))
    return max(found, key=lambda each: each.day or date.min, default=None)


def _kind(words: str) -> Owed | None:
    return next((each for each in OWED if pattern(each).search(words.replace("’", "'"))), None)


def _boxes(vault: Vault, today: date) -> Iterator[OwedLine]:
    def is_owed(words: str, dates: TaskDates) -> bool:
        return dates.day is None and not dates.is_closed and _kind(words) is not None

    for box in open_tasks(vault, today, is_owed, lambda _: 0):
        if (kind := _kind(box.text)) is not None:
            yield OwedLine(kind, plain_task_words(box.text), box.path)


def _written(vault: Vault, now: datetime) -> Iterator[OwnSentence]:
    """The sentences without a box in notes that were written lately."""
    for path in own_notes(vault, _written_lately(vault, now))[-_NOTES:]:
        day = day_of_note(vault, path)
        yield from (OwnSentence(each.words, path, day) for each in own_lines(vault, path) if each.box is None)


def _written_lately(vault: Vault, now: datetime) -> set[str]:
    made = commits(vault, actor="human", since=now - timedelta(days=_DAYS))
    paths = {change.path for each in made if len(each.files) <= _IMPORT for change in each.files}
    paths |= {item.path for item in vault.changed_files()}
    paths |= {vault.home.day_note(now.date() - timedelta(days=back)) for back in range(_DAYS)}
    return {path for path in paths if vault.read(path) is not None}


def _stated(vault: Vault, now: datetime) -> Iterator[OwnSentence]:
    """The person's statements in memory."""
    days = (now.date() - timedelta(days=back) for back in range(_DAYS))
    foreign = text_origin_of(vault)
    for each in load_entries(vault, (path for day in days for path in entry_paths_on(vault, day))):
        if is_stated_by_owner(each, foreign):
            yield OwnSentence(each.entry.text.partition("\n")[0], each.path, each.entry.created.date())


def _summed_up(vault: Vault, now: datetime, language: Language) -> Iterator[OwedLine]:
    """The promises in the summaries of the last week."""
    begin = f"- {text('memory_day.promised', language)}"
    for back in range(1, 8):
        day = now.date() - timedelta(days=back)
        path = vault.home.day_note(day)
        note = (vault.own_version(path) or b"").decode("utf-8", "replace")
        for line in (daily.summary_of(note) or "").splitlines():
            if line.startswith(begin):
                yield OwedLine("promised_by_person", line.removeprefix(begin).partition(" [[")[0], path, day)
