"""Recall: the memories about a question for one person, from entries, MEMORY.md and the profile, and the logs of days
that the question names.

The index finds and scores, `candidates` has access rights, expiry and order; this module takes the few results from the
current notes. The search itself and its fallback are left to the caller, and so is what is given unasked.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath

from agent.config.memory_settings import MemorySettings
from agent.config.resources import pattern
from agent.config.values import numbers_by_name
from agent.dataclass import dataclass
from agent.index.query import Hit, Leg, Mode, SearchResult, without_filters
from agent.memory.entry import Entry, EntryType, Scope, parse_entry
from agent.memory.forgetting.tombstones import Tombstones
from agent.memory.memory_note import rests_on
from agent.memory.recall.authorship import Asker
from agent.memory.recall.candidates import (
    CHAT,
    DAILY_KIND,
    ENTRY_KINDS,
    LAYERS,
    USER,
    RecallCandidate,
    candidate_of,
    day_of,
    filled,
    is_bare,
    rerank,
)
from agent.memory.recall.where_and_when import asked_days, end_of_day, without_distance, without_facts
from agent.memory.store import ARCHIVED
from agent.memory.understanding.rules import is_same
from agent.memory.understanding.statements import only_asks
from agent.memory.understanding.wording import LABEL
from agent.texts import joined
from agent.vault.folders import DAILY as DAILY_FOLDER
from agent.vault.folders import ENTRIES, SESSIONS, AgentFolder

POOL = 80
"""Notes requested from the index: as many as it scores."""
LONGEST = 1_200
"""The most characters of one memory."""
FAINT = 0.05
"""The share of the best score below which a memory is noise beside it; in a small vault the places would go to whatever
is there. On `tests/bench/fortnight.py` it leaves out one memory in seven, and no question loses its fact; 0.15 leaves
out two in seven, and four of 240 lose theirs."""
NOTE = "note"
"""The kind of a passage of a note that is no memory."""
_QUESTION = 1_500

FindNotes = Callable[[str, int], SearchResult]
"""Function from (question with filters, number of notes) to notes with their facets, best first."""
ReadNote = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class Remembered:
    """One memory, or a passage of a note (`NOTE`): its text, its lines in the note, its date, its score and the reasons
    for it. `is_asked_for`: the log of a day that the question names. `length`: the lines of the whole note, 0 for a
    memory that is one."""

    path: str
    title: str
    day: str
    lines: tuple[int, int]
    text: str
    score: float
    kind: str
    scope: str = USER
    sender: str = ""
    why: str = ""
    id: str = ""
    legs: tuple[Leg, ...] = ()
    is_asked_for: bool = False
    length: int = 0

    @property
    def counts_as(self) -> str:
        """The type of an entry and its scope, as `memory.quotas` names them."""
        return f"{self.kind}_{self.scope}"

    @property
    def link(self) -> str:
        """A link to its note that stays valid when the note is moved to the archive."""
        return f"[[{PurePosixPath(self.path).stem}]]"

    @property
    def hit(self) -> Hit:
        """The memory as a passage of its note."""
        title = self.title or self.day or PurePosixPath(self.path).stem
        return Hit(self.path, title, self.id, self.score, self.lines, self.text, (), self.legs)

    @property
    def model_text(self) -> str:
        """The memory as text for a model: date, kind and place; then the text."""
        speaker = f" · said by {self.sender}" if self.scope == CHAT and self.sender else ""
        kind = "" if self.kind == NOTE else _KINDS.get(self.kind, self.kind)
        stem = PurePosixPath(self.path).stem
        title = self.title.removeprefix(stem).strip() if f"{self.title} > ".startswith(f"{stem} > ") else self.title
        where = f"[[{self.path.removesuffix('.md')}]] {title}".rstrip()
        lines = f", lines {self.lines[0]}–{self.lines[1]} of {self.length}" if self.length else ""
        day = "" if self.kind == NOTE and self.day in where else self.day
        head = " · ".join(filter(None, (day, f"{kind}{speaker}", f"{where}{lines}")))
        return f"{head}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Recollection:
    """Memories, best first, and the search mode; `degraded` is the reason for a reduced search, or None. `looked_at`
    is the number of notes that they were chosen from."""

    found: tuple[Remembered, ...] = ()
    mode: Mode = "none"
    degraded: str | None = None
    looked_at: int = 0


@dataclass(frozen=True, slots=True)
class RankedCandidates:
    """The candidates of one search, best first; `outdated` are links to those that were replaced."""

    ranked: tuple[RecallCandidate, ...]
    outdated: frozenset[str]
    mode: Mode
    degraded: str | None


@dataclass(frozen=True, slots=True)
class Recaller:
    """Recalls memories from one vault. `settings` has the expiry of each kind."""

    find: FindNotes
    read: ReadNote
    now: Callable[[], datetime]
    settings: MemorySettings
    hidden: Callable[[str, bytes], bool]
    """True for a note with untrusted text: it is not shown to a model unasked."""
    forgotten: Callable[[], Tombstones]
    placed: Callable[["Remembered"], "Remembered"]
    """The memory with the place where its text stands now."""
    home: AgentFolder

    def recall(self, question: str, asker: Asker, limit: int, *, unasked: bool = False) -> Recollection:
        """At most `limit` memories about a question. `unasked`: not requested by the model."""
        text = plain(question)
        if not text or limit <= 0:
            return Recollection()
        pool = self.candidates(text, asker, unasked=unasked)
        least = FAINT * max((each.score for each in pool.ranked), default=0.0)
        fresh: list[Remembered] = []
        replaced, is_past = set[str](), is_of_past(text)
        for each in pool.ranked:
            if len(fresh) >= limit + limit // 2:
                break
            is_telling = each.score >= least and not each.is_asked_for
            found = self.current(each, asker, replaced, unasked=unasked, is_past=is_past) if is_telling else None
            if found is None or any(repeats(found, other) or repeats(other, found) for other in fresh):
                continue
            if self.has_room(found, fresh):
                fresh.append(found)
        if not is_past:
            fresh = [each for each in fresh if replaced.isdisjoint((each.id, each.link))]
        asked_for = (self.current(each, asker, set(), unasked=unasked) for each in pool.ranked if each.is_asked_for)
        logs = [each for each in asked_for if each is not None]
        chosen = [*fresh[: max(limit - len(logs), 1)], *logs][:limit]
        return Recollection(self.settled(chosen, pool.outdated), pool.mode, pool.degraded, len(pool.ranked))

    def has_room(self, found: Remembered, chosen: Sequence[Remembered]) -> bool:
        """True if the quota of its kind has room for a memory beside those chosen."""
        most = numbers_by_name(self.settings.quotas).get(found.counts_as)
        return most is None or sum(each.counts_as == found.counts_as for each in chosen) < most

    def candidates(self, text: str, asker: Asker, *, unasked: bool, within: str = "") -> RankedCandidates:
        """The candidates for a text without filters that this person may see and that hold: expired and replaced ones
        only if the text is about the past, the log of a day only if the text asks for that day. `within` is a filter
        for the time of all of them."""
        now, is_past = self.now(), is_of_past(text)
        days = asked_days(text, now.date())
        sought = without_distance(text, now.date())
        answers = [
            self.find(f"{sought} {filters} {within}".rstrip(), POOL) for filters in _searches(asker, days, self.home)
        ]
        found: dict[str, RecallCandidate] = {}
        outdated: set[str] = set()
        for hit in (hit for answer in answers for hit in answer.hits if hit.is_of_note):
            each = candidate_of(hit, self.home)
            is_replaced = not is_past and self._is_replaced(each)
            if is_replaced:
                outdated.add(f"[[{PurePosixPath(hit.path).stem}]]")
            is_allowed = each.may_be_seen_by(asker) and not each.is_bare and not (unasked and each.untrusted)
            is_over = (
                each.kind == DAILY_KIND
                and day_of(self.home.name_of(hit.path)) not in days
                or each.is_over(now, self.settings)
            )
            if is_allowed and not is_over and not is_replaced:
                found.setdefault(hit.path, each)
        degraded = joined(dict.fromkeys(answer.degraded for answer in answers if answer.degraded), "; ") or None
        return RankedCandidates(tuple(rerank(list(found.values()))), frozenset(outdated), answers[0].mode, degraded)

    def settled(self, chosen: Sequence[Remembered], outdated: Collection[str]) -> tuple[Remembered, ...]:
        """The chosen memories without what was replaced or forgotten, each where it stands now; a day's log without the
        facts whose entries are beside it."""
        links = {each.link for each in chosen if each.kind != DAILY_KIND}
        left = (_without_facts(each, links) if each.kind == DAILY_KIND else each for each in chosen)
        holding = _without_outdated(tuple(filter(None, left)), outdated)
        return tuple(map(self.placed, self._without_forgotten(holding)))

    def _is_replaced(self, candidate: RecallCandidate) -> bool:
        """True for an entry that has ended in a session, or with one that supersedes it; false if a person has deleted
        that one."""
        stem = candidate.superseded_by.strip("[]")
        paths = (f"{folder}{stem[:4]}/{stem[5:7]}/{stem}.md" for folder in map(self.home.at, (ENTRIES, ARCHIVED)))
        return "/" in stem or (bool(stem) and any(self.read(path) is not None for path in paths))

    def _is_replaced_since(self, candidate: RecallCandidate, entry: Entry) -> bool:
        """True for an entry that was replaced after the index has seen it, as in the run that asks now."""
        now = replace(candidate, superseded_by=entry.superseded_by)
        return now != candidate and self._is_replaced(now)

    def _without_forgotten(self, found: tuple[Remembered, ...]) -> tuple[Remembered, ...]:
        """The memories without forgotten text: a day's log may repeat it in a later request."""
        if not any(each.kind == DAILY_KIND for each in found):
            return found
        stones = self.forgotten()
        return tuple(left for each in found if (left := _left(each, stones) if each.kind == DAILY_KIND else each))

    def current(
        self, candidate: RecallCandidate, asker: Asker, replaced: set[str], *, unasked: bool, is_past: bool = False
    ) -> Remembered | None:
        """A candidate from its current note; None if the note is deleted, no longer visible to the asker, or replaced
        since the index saw it; `is_past`: a replaced one is asked for. What it replaces is added to `replaced`."""
        hit, data = candidate.hit, self.read(candidate.hit.path)
        if data is None or (unasked and self.hidden(hit.path, data)):
            return None
        why = ", ".join(leg.name for leg in hit.why[:2])
        entry = parse_entry(data)
        if candidate.kind in ENTRY_KINDS:
            if (
                entry is None
                or not is_for(entry, asker)
                or _is_echo(entry)
                or (not is_past and self._is_replaced_since(candidate, entry))
            ):
                return None
            first = data.decode("utf-8", "replace").count("\n") - entry.text.count("\n")
            lines = (max(first, 1), max(first, 1) + entry.text.count("\n"))
            text = entry.text
            if len(text) > LONGEST:
                text, lines = hit.passage, hit.lines
            replaced.update(filter(None, [entry.supersedes]))
            return Remembered(
                hit.path, "", f"{entry.created:%Y-%m-%d}", lines, text.strip(), candidate.score, str(entry.type),
                str(entry.scope), entry.sender_id, why, entry.id, hit.why,
            )  # fmt: skip
        if candidate.is_asked_for:
            text, lines = end_of_day(data.decode("utf-8", "replace"), LONGEST)
            return Remembered(
                hit.path, hit.title, day_of(self.home.name_of(hit.path)), lines, text, candidate.score, candidate.kind,
                why=why, legs=hit.why, is_asked_for=True,
            ) if text else None  # fmt: skip
        title = " > ".join((hit.title, *hit.headings[-1:])) if hit.headings else hit.title
        if self.home.holds(hit.path, SESSIONS):  # only the person's lines are left, whoever spoke where it begins
            title = ""
        return Remembered(
            hit.path,
            title,
            day_of(self.home.name_of(hit.path)),
            hit.lines,
            filled(hit.passage).strip(),
            candidate.score,
            candidate.kind,
            why=why,
            legs=hit.why,
        )


def is_of_past(text: str) -> bool:
    """True for a question about how things were."""
    return pattern("past").search(text) is not None


def plain(question: str) -> str:
    """The question, shortened, with nothing that parses as a filter."""
    text = " ".join(question.split())
    if len(text) > _QUESTION:
        text = f"{text[: _QUESTION * 2 // 3]} {text[-_QUESTION // 3 :]}"
    return without_filters(text)


_KINDS = {
    "long_term": "long-term memory",
    "profile": "profile",
    "daily": "the day's log",
    "user_explicit": "remembered",
    "fact": "fact",
    "chat_turn": "conversation",
    "auto_capture": "task",
    "auto_flush": "from a conversation",
}


def _searches(asker: Asker, days: Sequence[str], home: AgentFolder) -> tuple[str, ...]:
    """The filters of the searches for a person: their own memories first, then those of their chat, then the logs of
    `days`, which repeat each question that was asked."""
    entries = f'path:"{home.at(ENTRIES)}"'
    own = f'{entries} scope:user sender_id:"{_quoted(asker.sender)}"'
    if asker.is_owner:
        own = f"{entries} " + " ".join(f'path:"{home.at(path)}"' for path, kind in LAYERS if kind != DAILY_KIND)
    chat = f'{entries} scope:chat chat_id:"{_quoted(asker.chat)}"' if asker.chat else ""
    logs = f'{" ".join(days)} path:"{home.at(DAILY_FOLDER)}"' if days and asker.is_owner else ""
    return tuple(filter(None, (own, chat, logs)))


def _quoted(value: str) -> str:
    return value.replace('"', "")


def _without_outdated(found: tuple[Remembered, ...], outdated: Collection[str]) -> tuple[Remembered, ...]:
    """The memories; of MEMORY.md only lines with something in them, whatever their sections; and none there, or in a
    log that was not asked for, that rests on replaced entries."""
    left: list[Remembered] = []
    for each in found:
        if each.kind != "long_term":
            is_whole = each.kind != DAILY_KIND or each.is_asked_for
            rest = each if is_whole else _without_facts(each, outdated)
            left += [rest] if rest else []
            continue
        rows = [row for row in each.text.splitlines() if not (is_bare(row) or rests_on(row, outdated))]
        if rows:
            left.append(replace(each, title="", text="\n".join(rows)))
    return tuple(left)


def is_for(entry: Entry, asker: Asker) -> bool:
    """True for an entry of this person or chat, by exact comparison with the note's header."""
    if entry.scope is Scope.CHAT:
        return bool(asker.chat) and entry.chat_id == asker.chat
    return asker.is_named and entry.sender_id == asker.sender


def _is_echo(entry: Entry) -> bool:
    """True for an earlier question without an answer, which would be the best match for the same question."""
    return entry.type is EntryType.CHAT_TURN and only_asks(LABEL.sub("", entry.text))


def _left(each: Remembered, stones: Tombstones) -> Remembered | None:
    """A passage of a daily note without forgotten text; None when nothing remains."""
    rows = each.text.splitlines()
    left = [stones.left_of_log(row) for row in rows]
    parts = each.title.split(" > ")
    title = " > ".join(part for part in parts if stones.left_of_log(f"## {part}") == f"## {part}")
    if left == rows and title == each.title:
        return each
    text = "\n".join(line for line, row in zip(left, rows, strict=True) if line or not row)
    return replace(each, title=title, text=text.strip()) if text.strip() else None


def _without_facts(log: Remembered, links: Collection[str]) -> Remembered | None:
    """A log without the facts of these entries; None when nothing remains."""
    text = without_facts(log.text, links)
    is_empty = not text or (not log.is_asked_for and is_bare(text))
    return None if is_empty else replace(log, text=text)


def repeats(one: Remembered, other: Remembered) -> bool:
    """True if the first says nothing that the other does not say."""
    return one.text in other.text or (one.kind == other.kind and is_same(one.text, other.text))
