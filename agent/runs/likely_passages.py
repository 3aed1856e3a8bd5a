"""What a task is given: the few passages of notes and memories that are likely to help with one of its parts.

One gate for all of them (`recall.likely`), none that the conversation has already, none of the agent's own, and no
fact twice; each passage of a note with the lines around it that belong to it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.index.analysis import terms
from agent.index.document import note_day
from agent.index.query import Hit, Mode, SearchResult
from agent.lazy import later
from agent.markdown.note import Note
from agent.memory.recall.authorship import Asker, persons_rows
from agent.memory.recall.candidates import filled, is_bare
from agent.memory.recall.likely import (
    BY_ITSELF,
    Floor,
    HeldText,
    LikelyPassage,
    fitting_then,
    fitting_there,
    in_one_order,
    judge,
    likelihood_by_itself,
    nearly_best,
    of_the_days,
    without_repeated,
)
from agent.memory.recall.recaller import NOTE, Recaller, Remembered, is_of_past, repeats
from agent.memory.recall.where_and_when import (
    WhereAndWhen,
    clauses,
    sentences,
    where_and_when,
    whole_sentence,
    without_distance,
    without_time,
)
from agent.memory.recall.widening import merged, widened, with_header
from agent.memory.understanding.statements import is_statement
from agent.tools.text_origin import TextOrigin
from agent.vault.folders import DAILY, SESSIONS
from agent.vault.store import Vault

if TYPE_CHECKING:
    from agent.memory.blame import person_lines
    from agent.memory.forgetting.tombstones import Tombstones, load_tombstones
else:  # only of notes that several write, and of logs
    person_lines = later("agent.memory.blame", "person_lines")
    load_tombstones = later("agent.memory.forgetting.tombstones", "load_tombstones")


_MOST = 256
"""Notes that are remembered: who wrote a line is asked of git."""


@dataclass(frozen=True, slots=True)
class OwnLines:
    """A note as it is now; `theirs` says for each of its `rows` whether it is the person's. `body_line` is the line on
    which the text below the header begins."""

    data: bytes
    rows: Sequence[str]
    theirs: Sequence[bool]
    body_line: int
    stones: "Tombstones | None" = None
    """The tombstones, for a log, which may repeat what is forgotten."""

    def text(self, begin: int, end: int) -> str:
        """The person's lines among these (inclusive, from 1), without what is forgotten or not filled in."""
        numbered = zip(self.rows[begin - 1 : end], self.theirs[begin - 1 : end], strict=False)
        stones = self.stones
        rows = (stones.left_of_log(row) if row and stones else row for row, is_theirs in numbered if is_theirs)
        return filled("\n".join(rows)).strip("\n")


@dataclass(slots=True)
class PersonsLines:
    """The notes of one vault, each read once for each of its versions; used by one thread at a time."""

    vault: Vault
    _known: dict[str, OwnLines] = field(default_factory=dict)

    def of(self, path: str) -> OwnLines:
        """A note with its authors; without lines if there is none."""
        data = self.vault.read(path) or b""
        known = self._known.get(path)
        if known is None or known.data != data:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[path] = self._read(path, data)
        return known

    def left_of(self, hit: Hit, asked: str) -> Hit | None:
        """A hit with the person's lines only; None if these are blank, or if only the others have words of what is
        asked. An attachment is given as it is."""
        if not hit.is_of_note:
            return hit
        note = self.of(hit.path)
        first, last = hit.lines
        text = note.text(first, last)
        if not text.strip():
            return None
        words = set() if all(note.theirs[first - 1 : last]) else {*terms(asked)}.intersection(terms(hit.passage))
        return replace(hit, passage=text) if not words or words & {*terms(text)} else None

    def _read(self, path: str, data: bytes) -> OwnLines:
        rows = [row.removesuffix("\r") for row in data.decode("utf-8", "replace").removesuffix("\n").split("\n")]
        theirs = persons_rows(path, data, self.vault.home, lambda name, now: person_lines(self.vault, name, now))
        is_log = self.vault.home.holds(path, DAILY, SESSIONS)
        stones = load_tombstones(self.vault) if is_log else None
        return OwnLines(data, rows, theirs, Note.parse(data).body_line, stones)


_LEGS = 2
_FEW = 2
"""Sentences up to which each clause of a long one is searched for, too: each part takes up to 20 ms."""

FindPassages: TypeAlias = Callable[[str], SearchResult]
"""Function from a text with filters to passages of the notes that are no memories, best first."""


@dataclass(slots=True)
class LikelyPassages:
    """Chooses the passages for the tasks of one person in one conversation, of which `held` has the text."""

    lines: PersonsLines
    recaller: Recaller
    notes: FindPassages
    turns: FindPassages
    """The same for the conversations. The person's own turns are given to a task that asks for a talk, and where
    nothing else is: what somebody said once may be over."""
    folders: Callable[[], frozenset[str]]
    """The folders of the vault."""
    origin: TextOrigin
    asker: Asker
    floor: Floor
    held: HeldText
    mode: Mode = "none"
    degraded: str | None = None
    looked_at: int = 0

    def choose(self, task: str, most: int) -> tuple[Remembered, ...]:
        """At most `most` passages: notes in the order of their best one, the passages of each in reading order."""
        searches: list[list[LikelyPassage]] = []
        outdated: set[str] = set()
        parts: list[str] = []
        for part, scope, there in self._parts(task):
            of_memories, of_notes = self._search(part, scope, there, outdated)
            self.looked_at += len(of_memories) + len(of_notes)
            searches += nearly_best([of_memories, of_notes], self.floor)
            parts.append(part)
        is_past, is_of_talk = is_of_past(task), pattern("together").search(task) is not None
        if is_of_talk:
            searches += self._of_conversations(parts)
        chosen = self._first(in_one_order(searches), most, is_past=is_past)
        if not (is_of_talk or chosen):
            chosen = self._first(in_one_order(self._of_conversations(parts)), most, is_past=is_past)
        memories = self.recaller.settled([each for each in chosen if each.kind != NOTE], outdated)
        return self._in_order(chosen, memories)

    def _parts(self, task: str) -> Iterator[tuple[str, WhereAndWhen, list[LikelyPassage]]]:
        """The parts of a task that are looked for, each with its scope and the passages of the place that it names."""
        asked = sentences(task)
        parts_of = clauses if len(asked) <= _FEW else whole_sentence
        for sentence in asked:
            scope = where_and_when(sentence, self.folders, self._today)
            is_scoped = self.asker.is_owner and (scope.folder or scope.is_of_days)
            there = self._there(scope) if is_scoped else []
            for part in parts_of(scope.asked if there else scope.whole):
                yield part, scope, there

    def _search(
        self, part: str, scope: WhereAndWhen, there: list[LikelyPassage], outdated: set[str]
    ) -> tuple[list[LikelyPassage], list[LikelyPassage]]:
        """The memories and the notes that fit a part; adds what newer memories replace to `outdated`."""
        within = scope.days if scope.is_of_days else ""
        pool = self.recaller.candidates(part, self.asker, unasked=True, within=within)
        outdated |= pool.outdated
        self.mode, self.degraded = pool.mode, self.degraded or pool.degraded
        of_notes = there or (self._of_notes(part, scope.days) if self.asker.is_owner else [])
        return judge(part, pool.ranked, pool.mode, [each.hit for each in of_notes]), of_notes

    def _of_conversations(self, parts: Sequence[str]) -> list[list[LikelyPassage]]:
        """The passages of the owner's conversations that fit."""
        if not self.asker.is_owner:
            return []
        return [
            queue
            for part in parts
            for queue in nearly_best([self._judged(part, self.turns(without_distance(part, self._today)))], self.floor)
        ]

    def _there(self, scope: WhereAndWhen) -> list[LikelyPassage]:
        """The passages that fit in the folder that a sentence names; those of the days for which it asks."""
        if scope.is_of_days:
            return of_the_days(self._judged(scope.asked, self.notes(f"{scope.months} {scope.there}")))
        parts = clauses(scope.asked)
        found = (self._judged(part, self.notes(self._there_only(part, scope.there))) for part in parts)
        fitting = (nearly_best([fitting_there(each)], self.floor) for each in found)
        return in_one_order(chain.from_iterable(fitting))

    def _there_only(self, part: str, filters: str) -> str:
        return f"{without_time(part, self._today)} {filters}"

    @property
    def _today(self) -> date:
        return self.recaller.now().date()

    def _of_notes(self, part: str, days: str) -> list[LikelyPassage]:
        """The passages of notes for one part of a task; those of a time that it names come before the others."""
        then = fitting_then(self._judged(part, self.notes(self._there_only(part, days)))) if days else []
        return [*then, *self._judged(part, self.notes(without_distance(part, self._today)))]

    def _judged(self, part: str, answer: SearchResult) -> list[LikelyPassage]:
        self.degraded = self.degraded or answer.degraded
        return judge(part, answer.hits, answer.mode)

    def _current(self, each: LikelyPassage, replaced: set[str], *, is_past: bool) -> Remembered | None:
        """The passage as it is now; None if it is gone."""
        if each.memory is None:
            return self._of_note(each)
        return self.recaller.current(each.memory, self.asker, replaced, unasked=True, is_past=is_past)

    def _is_new(self, found: Remembered, chosen: Sequence[Remembered]) -> bool:
        """True if there is room for a passage, and neither the model nor what is chosen has it."""
        is_known = self.held.has(found.text) or any(repeats(found, one) for one in chosen)
        return not is_known and self.recaller.has_room(found, chosen)

    def _first(self, ranked: Sequence[LikelyPassage], most: int, *, is_past: bool) -> list[Remembered]:
        """The first passages as they are now; nothing twice, and nothing that another one replaces."""
        chosen: list[Remembered] = []
        replaced: set[str] = set()
        logs = sum(each.is_log for each in ranked)
        for each in sorted(ranked, key=lambda each: each.is_log):  # a log has what the entries say
            if len(chosen) >= (most if each.is_log else most - logs):
                continue
            found = self._current(each, replaced, is_past=is_past)
            found = without_repeated(found, chosen) if found is not None else None
            if found is None or not self._is_new(found, chosen):
                continue
            if found.kind == NOTE:  # it says what they say, and more
                chosen = [one for one in chosen if one.text not in found.text]
            chosen.append(replace(found, score=round(each.chance, 6)))
        return [each for each in chosen if is_past or replaced.isdisjoint((each.id, each.link))]

    def _of_note(self, likely: LikelyPassage) -> Remembered | None:
        """A passage of a note, as long as it was found; None if nothing in it is the person's, and for a stranger's
        that is not likely to help by itself."""
        hit = likely.hit
        if not hit.is_of_note:
            return self._of_attachment(likely)
        note = self.lines.of(hit.path)
        first, last = hit.lines[0], min(hit.lines[1], len(note.rows))
        text = note.text(first, last)
        if is_bare(text) or (self.lines.vault.home.holds(hit.path, SESSIONS) and not is_statement(text)):
            return None
        is_unlikely = likelihood_by_itself(hit, likely.mode) < BY_ITSELF[self.floor]
        if is_unlikely and self._is_strangers(hit.path, (first, last)):
            return None
        title = " > ".join(dict.fromkeys((hit.title, *hit.headings)))
        day = note_day(hit.path, Note.parse(note.data), hit.title, next(iter(hit.headings), ""))
        why = ", ".join(leg.name for leg in hit.why[:_LEGS])
        return Remembered(
            hit.path, title, day, (first, last), text, likely.chance, NOTE, why=why, legs=hit.why, length=len(note.rows)
        )

    def _of_attachment(self, likely: LikelyPassage) -> Remembered | None:
        """A passage of an attachment as the index has it; None as for notes."""
        hit = likely.hit
        is_unlikely = likelihood_by_itself(hit, likely.mode) < BY_ITSELF[self.floor]
        if is_bare(hit.passage) or (is_unlikely and self._is_strangers(hit.path, hit.lines)):
            return None
        why = ", ".join(leg.name for leg in hit.why[:_LEGS])
        place = ", ".join(hit.headings)
        return Remembered(hit.path, place, "", hit.lines, hit.passage, likely.chance, NOTE, why=why, legs=hit.why)

    def _in_order(self, chosen: Sequence[Remembered], memories: Sequence[Remembered]) -> tuple[Remembered, ...]:
        """The memories as they are settled, and the passages of each note at the place of its first one, widened."""
        waiting, done = list(memories), set[str]()
        ordered: list[Remembered] = []
        for each in chosen:
            if each.kind != NOTE:
                ordered += waiting[:1]
                del waiting[:1]
            elif each.path not in done:
                done.add(each.path)
                ordered += self._widened([one for one in chosen if one.kind == NOTE and one.path == each.path])
        return (*ordered, *waiting)

    def _widened(self, passages: Sequence[Remembered]) -> list[Remembered]:
        """The passages of one note with the lines around them, in reading order; those of an attachment as they are."""
        if not passages[0].hit.is_of_note:
            return sorted(passages, key=lambda each: each.lines)
        path, note = passages[0].path, self.lines.of(passages[0].path)
        around = [widened(note.rows, each.lines, note.body_line) for each in passages]
        spans = merged(with_header(note.rows, each, note.body_line) for each in around)
        found: list[Remembered] = []
        for begin, end in spans:
            inside = [each for each in passages if begin <= each.lines[0] <= end]
            best = max(inside, key=lambda each: each.score)
            if self._is_strangers(path, (begin, end)) and not any(
                self._is_strangers(path, one.lines) for one in inside
            ):
                found += inside  # what the person wrote stays theirs
            else:
                found.append(replace(best, lines=(begin, end), text=note.text(begin, end)))
        return found

    def _is_strangers(self, path: str, lines: tuple[int, int]) -> bool:
        return bool(self.origin.source(path, self.lines.vault.read(path) or b"", lines))
