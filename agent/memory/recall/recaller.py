"""Recall: the memories about a task for one person, from entries, MEMORY.md, profile and the last days' notes.

The index finds and scores; this module applies access rights and expiry and selects the few results. Entries are small,
so neighbouring turns count too: a turn scores higher beside other good turns of its conversation. The search itself and
its fallback are left to the caller.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from agent.config.memory_settings import MemorySettings
from agent.index.hit import Hit, SearchResult
from agent.memory.entry import Entry, EntryType, Scope, parse_entry
from agent.memory.expiry import expiry
from agent.memory.forgetting.tombstones import Tombstones
from agent.memory.recall.eligibility import ABOUT, filled, is_bare
from agent.memory.recall.selection import CHAT, USER, share
from agent.memory.store import with_offset
from agent.memory.understanding.rules import contradicts, is_same
from agent.memory.understanding.statements import only_asks
from agent.memory.understanding.wording import LABEL
from agent.vault.folders import DAILY as DAILY_FOLDER
from agent.vault.folders import ENTRIES, MEMORY_NOTE, PROFILE

POOL = 80
"""Notes requested from the index: as many as it scores."""
LONGEST = 1_200
"""The most characters of one memory."""
DAYS = 7
"""Days back from which daily notes are recalled."""
_QUESTION = 1_500
_POWER, _BESIDE, _SPOKEN = 2.0, 0.15, 0.3
"""The exponent that sharpens scores, the weight of neighbouring turns, and that of the whole conversation; fitted on
all of `python -m tests.bench.recall`, where they raise recall from .740 to .774."""
_STEP = timedelta(minutes=2)
_FAR = 3
DAILY = "daily"
_LAYERS = ((MEMORY_NOTE, "long_term"), (PROFILE, "profile"), (DAILY_FOLDER, DAILY))
_LIFT = {"long_term": 1.15, "user_explicit": 1.1}
"""Factors for MEMORY.md and for entries that a person asked to remember."""
_FILTER = re.compile(r"(?<=[\w-]):(?=\S)")
_DAY = re.compile(rf"{DAILY_FOLDER}(\d{{4}}-\d{{2}}-\d{{2}})")

FindNotes = Callable[[str, int], SearchResult]
"""Function from (question with filters, number of notes) to notes with their facets, best first."""
ReadNote = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class Asker:
    """The person who asks.

    `sender` is empty for the owner at their own machine, `chat` outside of groups. `is_owner`: owns the vault; others
    see only their own messages and those of their chat. `session` is the current conversation; its turns since `since`
    are still in the model's context.
    """

    sender: str = ""
    chat: str = ""
    is_owner: bool = True
    session: str = ""
    since: datetime | None = None
    run: str = ""

    @property
    def is_named(self) -> bool:
        """True for the owner, and for anyone with a sender name."""
        return self.is_owner or bool(self.sender)


@dataclass(frozen=True, slots=True)
class Remembered:
    """One memory: its text, its lines in the note, its date, its score and the reasons for it."""

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
    contradicts: tuple[str, ...] = ()
    id: str = ""

    @property
    def link(self) -> str:
        """A link to its note that stays valid when the note is moved to the archive."""
        return f"[[{PurePosixPath(self.path).stem}]]"

    @property
    def shown(self) -> str:
        """The memory as text for a model: date, kind and place; then the text."""
        said = f" · said by {self.sender}" if self.scope == CHAT and self.sender else ""
        where = f"[[{self.path.removesuffix('.md')}]] {self.title}"
        head = f"{self.day} · {_KINDS.get(self.kind, self.kind)}{said} · {where}"
        against = f"\n(says otherwise than {', '.join(self.contradicts)})" if self.contradicts else ""
        return f"{head.strip(' ·')}\n{self.text}{against}"


@dataclass(frozen=True, slots=True)
class Recollection:
    """Memories, best first, and the search mode; `degraded` is the reason for a reduced search, or None."""

    found: tuple[Remembered, ...] = ()
    mode: str = "none"
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class Recaller:
    """Recalls memories from one vault. `settings` has the expiry of each kind."""

    find: FindNotes
    read: ReadNote
    now: Callable[[], datetime]
    settings: MemorySettings
    hidden: Callable[[str, bytes], bool] = field(default=lambda path, data: False)
    """True for a note with untrusted text: it is not shown to a model unasked."""
    forgotten: Callable[[], Tombstones] = Tombstones

    def recall(
        self, question: str, asker: Asker, limit: int, *, without: frozenset[str] = frozenset(), unasked: bool = False
    ) -> Recollection:
        """At most `limit` memories about a question, not from the notes in `without`. `unasked`: not requested by the
        model."""
        text = plain(question)
        if not text or limit <= 0:
            return Recollection()
        answers = [self.find(f"{text} {filters}", POOL) for filters in _questions(asker)]
        now = self.now()
        candidates: dict[str, _Candidate] = {}
        for answer in answers:
            for hit in answer.hits:
                candidate = _candidate(hit)
                if hit.path in without or candidate.is_bare or not candidate.may_be_seen_by(asker):
                    continue
                if not candidate.is_over(now, self.settings):
                    candidates.setdefault(hit.path, candidate)
        ranked = [each for each in rerank(list(candidates.values())) if not (unasked and each.untrusted)]
        found = _doubted(self._without_forgotten(self._chosen(ranked, asker, limit, unasked=unasked)))
        degraded = "; ".join(dict.fromkeys(answer.degraded for answer in answers if answer.degraded)) or None
        return Recollection(found, answers[0].mode, degraded)

    def _chosen(
        self, ranked: Sequence["_Candidate"], asker: Asker, limit: int, *, unasked: bool
    ) -> tuple[Remembered, ...]:
        """The selected memories, from the current notes; repeated ones once."""
        fresh: list[Remembered] = []
        superseded: set[str] = set()
        for candidate in ranked:
            if len(fresh) >= limit + limit // 2:
                break
            found = self._now(candidate, asker, superseded, unasked=unasked)
            if found is not None and not any(_repeats(found, other) for other in fresh):
                fresh.append(found)
        current = [each for each in fresh if each.id not in superseded]
        return share(current, limit, lambda each: (each.kind, each.scope), lambda each: each.score)

    def _without_forgotten(self, found: tuple[Remembered, ...]) -> tuple[Remembered, ...]:
        """The memories without forgotten text: a day's log may repeat it in a later request."""
        if not any(each.kind == DAILY for each in found):
            return found
        stones = self.forgotten()
        return tuple(left for each in found if (left := _left(each, stones) if each.kind == DAILY else each))

    def _now(self, candidate: "_Candidate", asker: Asker, superseded: set[str], *, unasked: bool) -> Remembered | None:
        """A candidate from its current note; None if the note is deleted or no longer visible to the asker."""
        hit, data = candidate.hit, self.read(candidate.hit.path)
        if data is None or (unasked and self.hidden(hit.path, data)):
            return None
        why = ", ".join(leg.name for leg in hit.why[:2])
        entry = parse_entry(data)
        if candidate.kind in _ENTRIES:
            if entry is None or not _is_for(entry, asker) or _is_echo(entry):
                return None
            first = data.decode("utf-8", "replace").count("\n") - entry.text.count("\n")
            lines = (max(first, 1), max(first, 1) + entry.text.count("\n"))
            text = entry.text if len(entry.text) <= LONGEST else hit.passage
            superseded.update(filter(None, [entry.supersedes]))
            return Remembered(
                hit.path, "", f"{entry.created:%Y-%m-%d}", lines, text.strip(), candidate.score, str(entry.type),
                str(entry.scope), entry.sender_id, why, entry.contradicts, entry.id,
            )  # fmt: skip
        title = " > ".join((hit.title, *hit.headings[-1:])) if hit.headings else hit.title
        return Remembered(
            hit.path,
            title,
            _day_of(hit.path),
            hit.lines,
            filled(hit.passage).strip(),
            candidate.score,
            candidate.kind,
            why=why,
        )


def plain(question: str) -> str:
    """The question, shortened, with nothing that parses as a filter."""
    text = " ".join(question.split())
    if len(text) > _QUESTION:
        text = f"{text[: _QUESTION * 2 // 3]} {text[-_QUESTION // 3 :]}"
    return _FILTER.sub(": ", text)


def rerank(candidates: Sequence["_Candidate"]) -> list["_Candidate"]:
    """The candidates by score: their own, that of neighbouring turns, and that of their conversation."""
    if not candidates:
        return []
    best = max(each.hit.score for each in candidates) or 1.0
    own = {each.hit.path: max(each.hit.score / best, 0.0) ** _POWER for each in candidates}
    talks: dict[str, list[_Candidate]] = defaultdict(list)
    for each in candidates:
        if each.session and each.kind == EntryType.CHAT_TURN:
            talks[each.session].append(each)
    more: dict[str, float] = {}
    for talk in talks.values():
        best_of_talk = sorted((own[each.hit.path] for each in talk), reverse=True)[:_FAR]
        for each in talk:
            near = sum(own[other.hit.path] * _nearness(each, other) for other in talk if other is not each)
            more[each.hit.path] = _BESIDE * near + _SPOKEN * sum(best_of_talk) / _FAR
    scored = [
        replace(each, score=round((own[each.hit.path] + more.get(each.hit.path, 0.0)) * _LIFT.get(each.kind, 1.0), 6))
        for each in candidates
    ]
    return sorted(scored, key=lambda each: (-each.score, each.hit.path))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A hit with its header's facets; values are in lower case, as in the index."""

    hit: Hit
    kind: str
    scope: str = USER
    sender: str = ""
    chat: str = ""
    session: str = ""
    created: datetime | None = None
    expires: datetime | None = None
    untrusted: bool = False
    score: float = 0.0

    @property
    def is_bare(self) -> bool:
        """True for a note that explains the vault, and for headings without text."""
        if self.kind in _ENTRIES:
            return False
        return self.kind == ABOUT or is_bare(self.hit.passage)

    def may_be_seen_by(self, asker: Asker) -> bool:
        """True if the index's facets allow the asker to see it; `_now` checks the note itself afterwards."""
        if self.kind not in _ENTRIES:
            return asker.is_owner
        if self.session and self.session == asker.session.casefold() and not _is_before(self.created, asker.since):
            return False
        if self.scope == CHAT:
            return bool(asker.chat) and self.chat == asker.chat.casefold()
        return asker.is_named and self.sender == asker.sender.casefold()

    def is_over(self, now: datetime, settings: MemorySettings) -> bool:
        """True if it is too old for recall."""
        if self.kind == DAILY:
            day = _day_of(self.hit.path)
            return not day or day < f"{now - timedelta(days=DAYS):%Y-%m-%d}"
        if self.kind not in _ENTRIES or self.created is None:
            return False
        like = Entry("", self.created, "", EntryType(self.kind), Scope(self.scope), expires=self.expires)
        end = expiry(like, settings)
        return end is not None and end <= now


_CLAIMS = frozenset((str(EntryType.USER_EXPLICIT), "long_term"))
_ENTRIES = frozenset(str(kind) for kind in EntryType)
_KINDS = {
    "long_term": "long-term memory",
    "profile": "profile",
    "daily": "the day's log",
    "user_explicit": "remembered",
    "chat_turn": "conversation",
    "auto_capture": "task",
    "auto_flush": "from a conversation",
    "workflow_trace": "workflow",
}


def _questions(asker: Asker) -> tuple[str, ...]:
    """The filters of the searches for a person: their own memories first, then those of their chat."""
    if asker.is_owner:
        own = f"path:{ENTRIES} " + " ".join(f"path:{path}" for path, _ in _LAYERS)
    else:
        own = f'path:{ENTRIES} scope:user sender_id:"{_quoted(asker.sender)}"'
    chat = f'path:{ENTRIES} scope:chat chat_id:"{_quoted(asker.chat)}"' if asker.chat else ""
    return tuple(filter(None, (own, chat)))


def _quoted(value: str) -> str:
    return value.replace('"', "")


def _candidate(hit: Hit) -> _Candidate:
    layer = next((kind for path, kind in _LAYERS if hit.path.startswith(path)), "")
    said: Mapping[str, str] = dict(reversed(hit.facets))
    if layer and said.get("type") != ABOUT:
        return _Candidate(hit, layer)
    return _Candidate(
        hit,
        said.get("type", ""),
        CHAT if said.get("scope") == CHAT else USER,
        said.get("sender_id", ""),
        said.get("chat_id", ""),
        said.get("session_id", ""),
        _time(said.get("created", "")),
        _time(said.get("expires", "")),
        "untrusted" in said,
    )


def _is_for(entry: Entry, asker: Asker) -> bool:
    """True for an entry of this person or chat, by exact comparison with the note's header."""
    if entry.scope is Scope.CHAT:
        return bool(asker.chat) and entry.chat_id == asker.chat
    return asker.is_named and entry.sender_id == asker.sender


def _is_echo(entry: Entry) -> bool:
    """True for an earlier question without an answer, which would be the best match for the same question."""
    return entry.type is EntryType.CHAT_TURN and only_asks(LABEL.sub("", entry.text))


def _doubted(found: tuple[Remembered, ...]) -> tuple[Remembered, ...]:
    """The memories; of two that contradict each other, the newer gets a link to the older.

    Capture checks this for what it writes, but text that a person typed, imported or corrected was never compared.
    """
    claims = sorted((each for each in found if each.kind in _CLAIMS), key=lambda each: each.id)
    doubts: dict[str, tuple[str, ...]] = {}
    for at, newer in enumerate(claims):
        otherwise = (older.link for older in claims[:at] if contradicts(newer.text, older.text))
        doubts[newer.path] = tuple(dict.fromkeys((*newer.contradicts, *otherwise)))
    return tuple(replace(each, contradicts=doubts.get(each.path, each.contradicts)) for each in found)


def _left(each: Remembered, stones: Tombstones) -> Remembered | None:
    """A passage of a daily note without forgotten text; None when nothing remains."""
    rows = each.text.splitlines()
    left = [stones.left_of_log(row) for row in rows]
    parts = each.title.split(" > ")
    title = " > ".join(part for part in parts if stones.left_of_log(f"## {part}") == f"## {part}")
    if left == rows and title == each.title:
        return each
    text = "\n".join(kept for kept, row in zip(left, rows, strict=True) if kept or not row)
    return replace(each, title=title, text=text.strip()) if text.strip() else None


def _repeats(one: Remembered, other: Remembered) -> bool:
    if one.text in other.text or other.text in one.text:
        return True
    return one.kind == other.kind and is_same(one.text, other.text)


def _nearness(one: _Candidate, other: _Candidate) -> float:
    """The closeness in time of two turns of a conversation, 0 to 1."""
    if one.created is None or other.created is None:
        return 0.0
    apart = abs(one.created - other.created) / _STEP
    return math.exp(-max(apart - 1.0, 0.0)) if apart <= _FAR else 0.0


def _is_before(when: datetime | None, since: datetime | None) -> bool:
    """True if `when` is not after `since`. Both are in whole seconds: on a tie a turn is shown twice rather than
    never."""
    return when is not None and since is not None and when <= with_offset(since)


def _day_of(path: str) -> str:
    found = _DAY.match(path)
    return found[1] if found else ""


def _time(text: str) -> datetime | None:
    try:
        return with_offset(datetime.fromisoformat(text.upper())) if text else None
    except ValueError:
        return None
