"""Search of the vault for runs: passages and memories for tools, and the texts that a task is given.

A task is given two kinds of text, each with its own limit: memories (`memory.max_recalls`) and passages of other notes
(`context.memories`).
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from itertools import zip_longest
from typing import Protocol

from agent.context.budget import Count
from agent.context.source import Piece, Receipt
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.receipt import MEMORIES
from agent.events.runs import MemoryRecalled
from agent.index.embedder import EmbedderChoice
from agent.index.hit import Hit, SearchResult
from agent.index.search import Searcher, UnsavedNote
from agent.index.weights import Weights
from agent.loop.session import Session
from agent.memory.entry import Entry
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.recall.asker import Asker
from agent.memory.recall.degraded_search import DegradedSearch
from agent.memory.recall.eligibility import SPARE, is_given_as_note, may_be_found
from agent.memory.recall.floor import LEAST, probability, probability_by_itself
from agent.memory.recall.recall_log import log_recall
from agent.memory.recall.recaller import Recaller, Recollection, Remembered, plain
from agent.memory.recall.refresh import ShownMemories
from agent.memory.understanding.holding import statements_of
from agent.memory.understanding.rules import words_for_other_values
from agent.memory.understanding.small_talk import is_small_talk
from agent.runs.linked_memories import MemoryReader, ReadAgain
from agent.runs.waiting_statements import WaitingStatements
from agent.tools.taint import frame
from agent.tools.text_origin import TextOrigin, text_origin_of
from agent.tools.tool import RunContext, Taint
from agent.vault.folders import ENTRIES
from agent.vault.history.pins import Pins, pins
from agent.workspace.search_index import SearchIndex
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)

_LEGS = 2
_NEAR = 6
"""Entries from the index that a new entry is compared with."""
_SAID = 400
UNLIKELY = "nothing is likely enough to help (memory.floor)"
IN_PASSING = "small talk brings nothing up (memory.small_talk)"


@dataclass(frozen=True, slots=True)
class Given:
    """What a task is given: memories and passages of other notes, each best first; if nothing, the reason
    (`absent`)."""

    memories: Recollection = Recollection()
    passages: tuple[Hit, ...] = ()
    absent: str = ""

    @property
    def texts(self) -> tuple[Remembered | Hit, ...]:
        """Memories and passages in the order in which they are given: alternating, the best of each first."""
        pairs = zip_longest(self.memories.found, self.passages)
        return tuple(each for pair in pairs for each in pair if each is not None)

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The same texts as passages of their notes."""
        return tuple(each.hit if isinstance(each, Remembered) else each for each in self.texts)


def nobody(event: object) -> None:
    """Ignore an event; for searches whose events are not published."""


class OtherWords(Protocol):
    """Gives other words for a question, to search by, on the account of a job (empty: of no job) which may cost `spend`
    dollars a day; empty for none."""

    def __call__(self, question: str, job: str = "", spend: float | None = None, /) -> str: ...


def no_words(question: str, job: str = "", spend: float | None = None, /) -> str:
    """No other words for any question."""
    return ""


@dataclass(slots=True)
class RecallSource:
    """Searches of one vault for runs; may be used by several threads. `tell` publishes what was recalled."""

    workspace: Workspace
    library: SearchIndex
    foreign: TextOrigin
    tell: Callable[[object], object]
    waiting: WaitingStatements
    ledger: ShownMemories = field(default_factory=ShownMemories)
    fallback: DegradedSearch = field(default_factory=DegradedSearch)
    other_words: OtherWords = no_words
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _keywords: Searcher | None = None

    def search(self, question: str, limit: int) -> SearchResult:
        """Passages of all notes except transcripts and the archive."""
        answer = self._find(question, limit * SPARE, passages=True)
        hits = [hit for hit in answer.hits if may_be_found(hit, self.workspace.vault.home)]
        return replace(answer, hits=tuple(hits[:limit]))

    def others(self, question: str, limit: int) -> SearchResult:
        """Passages of the notes that are not memories, skills or requests for approval; nothing in the question is a
        filter, since it is a task in somebody's own words."""
        answer = self.search(plain(question), limit * SPARE)
        hits = [hit for hit in answer.hits if is_given_as_note(hit, self.workspace.vault.home)]
        return replace(answer, hits=tuple(hits[:limit]))

    @property
    def recaller(self) -> Recaller:
        """The recall of memories, for any asker, also of what was said in conversations that wait to be read."""
        workspace, waiting = self.workspace, self.waiting

        def find(text: str, limit: int) -> SearchResult:
            unsaved = tuple((each.path, each.data) for each in waiting.entries())
            return self._find(text, limit, passages=False, unsaved=unsaved)

        def read(path: str) -> bytes | None:
            said = waiting.entry(path)
            return workspace.vault.read(path) if said is None else said.data

        return Recaller(
            find,
            read,
            workspace.clock.now,
            workspace.settings.memory,
            lambda path, data: bool(self.foreign.source(path, data)),
            lambda: load_tombstones(workspace.vault),
            waiting.placed,
            workspace.vault.home,
        )

    def remembered(self, question: str, limit: int, context: RunContext) -> Recollection:
        """The memories about a question, for the person of a run; used by the tool `memory_recall`."""
        known, clock = self.ledger.asker(context.run), self.workspace.vault.clock
        asker = known or Asker(context.sender, context.channel, context.role == "owner", run=context.run)
        began = clock.monotonic()
        found = self.recaller.recall(question, replace(asker, session=""), limit)
        log_recall(question, found, found, clock.monotonic() - began, self.workspace.vault.masked)
        return found

    def near(self, entry: Entry) -> Sequence[str]:
        """The paths of entries of the same scope, and of the same type or also statements, that may have the same
        content."""
        kind = "" if entry.type.is_stated else f"type:{entry.type} "
        among = f'path:"{self.workspace.vault.home.at(ENTRIES)}" {kind}scope:{entry.scope}'
        others = " ".join(map(words_for_other_values, statements_of(entry.text[:_SAID]))) if not kind else ""
        sought = (plain(words) for words in (entry.text[:_SAID], others) if words.strip())
        answers = [self._find(f"{words} {among}", _NEAR, passages=False, explain=False) for words in sought]
        return list(dict.fromkeys(hit.path for answer in answers for hit in answer.hits))

    def source(self, context: RunContext, session: Session, *, group: bool) -> "MemorySource":
        """The source of memories and passages for the tasks of a run."""
        asker = Asker(
            context.sender,
            context.channel if group else "",
            context.role == "owner",
            session.path,
            session.summarised(context.sender),
            context.run,
        )
        self.ledger.begin(asker)
        return MemorySource(self, asker, context.job, context.spend)

    def close(self) -> None:
        """Close the files of the keyword search."""
        if self._keywords is not None:
            self._keywords.close()

    def _find(
        self, text: str, limit: int, *, passages: bool, explain: bool = True, unsaved: Sequence[UnsavedNote] = ()
    ) -> SearchResult:
        def whole() -> SearchResult:
            with self._lock:
                return self.library.search(text, limit, passages=passages, explain=explain, unsaved=unsaved)

        def keywords() -> SearchResult:
            if self._keywords is None:
                library = self.library
                self._keywords = Searcher(library.files, library.engine, EmbedderChoice(None), Weights())
            return self._keywords.search(text, limit, passages=passages, explain=explain, unsaved=unsaved)

        return self.fallback.search(whole, keywords)


@dataclass(frozen=True, slots=True)
class MemorySource:
    """The source of memories and passages for tasks, with receipts, for one person in one run; `job` and `spend` are
    the run's."""

    recall: RecallSource
    asker: Asker
    job: str = ""
    spend: float | None = None

    @property
    def name(self) -> str:
        return MEMORIES

    def read_again(self, session: Session, room: int, count: Count, taint: Taint) -> None:
        """Put the text of the person's earlier memories back into a session that was loaded from its note, at most
        `room` tokens for each task; text by others than the owner taints the run."""
        reader = MemoryReader(self.recall.workspace.vault, self.asker, self.recall.foreign, room, count)
        try:
            found = reader.read(session)
        except (AgentError, OSError) as error:  # a run without them is better than none
            logger.warning("%s: what was remembered for it before cannot be read again: %s", session.path, error)
            found = ReadAgain()
        self.recall.ledger.replace(self.asker, found.notes)
        for source in found.untrusted:
            taint.mark(source)

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """What a task is given, as texts with receipts."""
        workspace, asker = self.recall.workspace, self.asker
        begin = workspace.vault.clock.monotonic()
        given = self.given(task)
        found = given.memories
        self.recall.ledger.give(asker, found)
        if asker.run and workspace.settings.memory.auto_recall and given.absent != IN_PASSING:
            seconds = workspace.vault.clock.monotonic() - begin
            count, degraded = len(found.found), found.degraded or ""
            self.recall.tell(MemoryRecalled(asker.run, asker.session, count, found.mode, degraded, seconds))
        pinned = pins(workspace.vault, {each.path for each in given.texts})
        pieces = [self._piece(each, pinned, rank) for rank, each in enumerate(given.texts)]
        if given.absent:
            return [Piece("", self.name, absent=given.absent)]
        if found.degraded and pieces:
            pieces.append(Piece(f"(what is remembered was found {found.degraded})", self.name))
        return pieces

    def given(self, task: str) -> Given:
        """The memories and the passages of other notes that the task is given; without secrets, as a run's task is."""
        settings, vault = self.recall.workspace.settings, self.recall.workspace.vault
        if not settings.memory.small_talk and is_small_talk(task):
            return Given(absent=IN_PASSING)
        task, helpful = vault.masked(task), Recollection()
        if settings.memory.auto_recall:
            began = vault.clock.monotonic()
            known, most = self.recall.ledger.given(self.asker), settings.memory.max_recalls
            recaller = self.recall.recaller
            found = recaller.recall(task, self.asker, most, without=known, unasked=True)
            helpful = found.above(settings.memory.floor)
            words = self.recall.other_words(task, self.job, self.spend) if found.is_doubtful else ""
            if words:  # the model thinks that a note may help
                found = helpful = recaller.recall(
                    task, self.asker, most, without=known, unasked=True, words=vault.masked(words)
                )
            log_recall(task, found, helpful, vault.clock.monotonic() - began, vault.masked)
        others = settings.context.memories
        hits = self._helpful(task, self.recall.others(task, others)) if others and self.asker.is_owner else ()
        is_unlikely = not (helpful.found or hits) and settings.memory.floor != "off"
        return Given(helpful, hits, UNLIKELY if is_unlikely else "")

    def _helpful(self, task: str, answer: SearchResult) -> tuple[Hit, ...]:
        """The hits, if one of them is likely enough to help; those with text of strangers only if they are so by
        themselves: a run that is shown one is marked for good, and most tasks are about something else."""
        least = LEAST[self.recall.workspace.settings.memory.floor]
        foreign = {hit for hit in answer.hits if self._origin(hit)}
        own = [hit for hit in answer.hits if hit not in foreign]
        if probability(task, own, answer.mode) < least:
            own = []
        by_itself = max(least, LEAST["normal"])
        kept = (hit for hit in foreign if probability_by_itself(task, hit, answer.mode) >= by_itself)
        return tuple(hit for hit in answer.hits if hit in {*own, *kept})

    def _piece(self, each: Remembered | Hit, pins: Pins, rank: int) -> Piece:
        """A memory or a passage with its receipt; its score keeps the order, whatever their own scores."""
        commit, score = pins.commit(each.path), 1.0 / (1.0 + rank)
        if isinstance(each, Remembered):
            return Piece(each.shown, self.name, score, Receipt(each.path, each.lines, commit, each.score, each.why))
        why = ", ".join(leg.name for leg in each.why[:_LEGS])
        headings = f" > {' > '.join(each.headings)}" if each.headings else ""
        text = f"[[{each.path.removesuffix('.md')}]] {each.title}{headings}\n{each.passage.strip()}"
        origin, receipt = self._origin(each), Receipt(each.path, each.lines, commit, each.score, why)
        return Piece(frame(text, origin) if origin else text, self.name, score, receipt, origin)

    def _origin(self, hit: Hit) -> str:
        data = self.recall.workspace.vault.read(hit.path) or b""
        return self.recall.foreign.source(hit.path, data, hit.lines)


def recall_source(
    workspace: Workspace, library: SearchIndex, tell: Callable[[object], object] = nobody
) -> RecallSource:
    """The searches over one index; `tell` publishes what was recalled."""
    return RecallSource(workspace, library, text_origin_of(workspace.vault), tell, WaitingStatements(workspace))
