"""Search of the vault for runs: passages and memories for tools, and the passages that a task is given
(`context.memories`, chosen by `likely_passages`).

What a run would be given for a task, with receipts, without a run.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from itertools import islice

from agent.context.source import Piece, Receipt
from agent.dataclass import dataclass
from agent.events.bus import ignore_event
from agent.events.receipt import MEMORIES
from agent.events.runs import MemoryRecalled
from agent.index.embedder import EmbedderChoice
from agent.index.keyword import Weights
from agent.index.query import Mode, SearchResult
from agent.index.records import Filters
from agent.index.search import Searcher, UnsavedNote
from agent.llm.messages import Assistant
from agent.loop.records import Began
from agent.loop.session import Session
from agent.memory.entry import Entry
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.recall.authorship import Asker, agents_notes, is_near, parse_search
from agent.memory.recall.candidates import SPARE, is_recalled_as_note, may_be_found, may_be_offered
from agent.memory.recall.degraded_search import DegradedSearch
from agent.memory.recall.likely import HeldText
from agent.memory.recall.recaller import NOTE, Recaller, Recollection, Remembered, plain
from agent.memory.recall.refresh import SessionMemories, log_recall
from agent.memory.understanding.statements import is_small_talk
from agent.runs.likely_passages import LikelyPassages, PersonsLines
from agent.runs.request_note import only_asks, words_of
from agent.runs.waiting_statements import WaitingStatements
from agent.tools.taint import frame
from agent.tools.text_origin import TextOrigin, named_guest, text_origin_of
from agent.tools.tool import RunContext
from agent.vault.folders import ENTRIES, SESSIONS
from agent.vault.history.commits import Pins, pins
from agent.vault.history.versions import last_commit
from agent.workspace.search_index import SearchIndex
from agent.workspace.workspace import Workspace

_NEAR = 6
"""Entries from the index that a new entry is compared with."""
_SAID = 400
_POOL = 24
"""Passages of notes that are looked at for each part of a task."""
_TURNS = 6
"""The same of conversations."""
UNLIKELY = "nothing is likely enough to help (memory.floor)"
IN_PASSING = "small talk brings nothing up (memory.small_talk)"


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The passages for a task, in the order in which a model gets them; if there are none, the reason (`absent`).
    `mode` and `degraded` are those of the search."""

    found: tuple[Remembered, ...] = ()
    mode: Mode = "none"
    degraded: str | None = None
    absent: str = ""


@dataclass(slots=True)
class RecallSource:
    """Searches of one vault for runs; may be used by several threads. `tell` publishes what was recalled."""

    workspace: Workspace
    library: SearchIndex
    foreign: TextOrigin
    tell: Callable[[object], object]
    waiting: WaitingStatements
    ledger: SessionMemories = field(default_factory=SessionMemories)
    fallback: DegradedSearch = field(default_factory=DegradedSearch)
    lines: PersonsLines = field(init=False)
    _keywords: Searcher | None = None

    def __post_init__(self) -> None:
        self.lines = PersonsLines(self.workspace.vault)

    def search(self, question: str, limit: int) -> SearchResult:
        """Passages for a search of a model: the person's, unless the question asks for others."""
        home = self.workspace.vault.home
        wanted = parse_search(question, home, self.workspace.clock.now().date())
        answer = self._find(wanted.text, limit * SPARE, passages=True, without=wanted.without)
        hits = (hit for hit in answer.hits if may_be_found(hit, home) and wanted.may_have(hit) and is_near(hit))
        left = (self.lines.left_of(hit, wanted.text) for hit in hits) if wanted.without else hits
        return replace(answer, query=question, hits=tuple(islice(filter(None, left), limit)))

    def others(self, question: str, limit: int) -> SearchResult:
        """Passages of the notes that are not memories, of which the person has written some lines; the question may
        have filters."""
        vault = self.workspace.vault
        without = (*agents_notes(vault.home), Filters(paths=(vault.home.at(ENTRIES),)))
        answer = self._find(question, limit * SPARE, passages=True, without=without)
        hits = (self.lines.left_of(hit, answer.text) for hit in answer.hits if is_recalled_as_note(hit, vault.home))
        return replace(answer, hits=tuple(islice(filter(None, hits), limit)))

    def turns(self, question: str) -> SearchResult:
        """Passages of the conversations."""
        sessions = f'path:"{self.workspace.vault.home.at(SESSIONS)}"'
        return self._find(f"{question} {sessions}", _TURNS, passages=True)

    @property
    def recaller(self) -> Recaller:
        """The recall of memories, for any asker, also of what was said in conversations that wait to be read."""
        workspace, waiting = self.workspace, self.waiting

        def find(text: str, limit: int) -> SearchResult:
            unsaved = tuple((each.path, each.data) for each in waiting.entries())
            without = agents_notes(workspace.vault.home)
            return self._find(text, limit, passages=False, unsaved=unsaved, without=without)

        def read(path: str) -> bytes | None:
            statement = waiting.entry(path)
            return workspace.vault.read(path) if statement is None else statement.data

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
        log_recall(question, found.found, found, clock.monotonic() - began, self.workspace.vault.masked)
        return found

    def near(self, entry: Entry) -> Sequence[str]:
        """The paths of entries of the same scope, and of the same type or also statements, that may have the same
        content."""
        kind = "" if entry.type.is_stated else f"type:{entry.type} "
        among = f'path:"{self.workspace.vault.home.at(ENTRIES)}" {kind}scope:{entry.scope}'
        answer = self._find(f"{plain(entry.text[:_SAID])} {among}", _NEAR, passages=False, explain=False)
        return list(dict.fromkeys(hit.path for hit in answer.hits))

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
        self.ledger.begin(asker, held_text(session, asker))
        return MemorySource(self, asker, session)

    def close(self) -> None:
        """Close the files of the keyword search."""
        if self._keywords is not None:
            self._keywords.close()

    def _find(
        self,
        text: str,
        limit: int,
        *,
        passages: bool,
        explain: bool = True,
        unsaved: Sequence[UnsavedNote] = (),
        without: tuple[Filters, ...] = (),
    ) -> SearchResult:
        def whole() -> SearchResult:
            return self.library.search(
                text, limit, passages=passages, explain=explain, unsaved=unsaved, without=without
            )

        def keywords() -> SearchResult:
            if self._keywords is None:
                library = self.library
                self._keywords = Searcher(library.files, library.engine, EmbedderChoice(None), Weights())
            return self._keywords.search(
                text, limit, passages=passages, explain=explain, unsaved=unsaved, without=without
            )

        return self.fallback.search(whole, keywords)


@dataclass(frozen=True, slots=True)
class MemorySource:
    """The source of memories and passages for tasks, with receipts, for one person in one conversation (None: in a new
    one)."""

    recall: RecallSource
    asker: Asker
    session: Session | None = None

    @property
    def name(self) -> str:
        return MEMORIES

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """The passages for a task, as texts with receipts."""
        workspace, asker = self.recall.workspace, self.asker
        begin = workspace.vault.clock.monotonic()
        recalled = self.passages(task)
        if asker.run and workspace.settings.memory.auto_recall and recalled.absent != IN_PASSING:
            seconds = workspace.vault.clock.monotonic() - begin
            event = MemoryRecalled(
                asker.run, asker.session, len(recalled.found), recalled.mode, recalled.degraded or "", seconds
            )
            self.recall.tell(event)
        if recalled.absent:
            return [Piece("", self.name, absent=recalled.absent)]
        self.recall.ledger.give(asker, recalled.found)
        pinned = pins(workspace.vault, {each.path for each in recalled.found})
        pieces = [self._piece(each, pinned, rank) for rank, each in enumerate(recalled.found)]
        if recalled.degraded and pieces:
            pieces.append(Piece(f"(what is remembered was found {recalled.degraded})", self.name))
        return pieces

    def passages(self, task: str) -> RecallResult:
        """The passages of memories and notes that the task is given; without secrets, as a run's task is."""
        settings, vault = self.recall.workspace.settings, self.recall.workspace.vault
        if not settings.memory.auto_recall:
            return RecallResult()
        if not settings.memory.small_talk and is_small_talk(task):
            return RecallResult(absent=IN_PASSING)
        began, task = vault.clock.monotonic(), vault.masked(task)

        def others(text: str) -> SearchResult:
            answer = self.recall.others(text, _POOL)
            return replace(answer, hits=tuple(x for x in answer.hits if not only_asks(task, x.path, x.passage)))

        likely = LikelyPassages(
            self.recall.lines,
            self.recall.recaller,
            others,
            self.recall.turns,
            self.recall.library.folders,
            self.recall.foreign,
            self.asker,
            settings.memory.floor,
            held_text(self.session, self.asker) if self.session is not None else HeldText(),
        )
        found = likely.choose(words_of(task), settings.context.memories)
        log_recall(task, found, likely, vault.clock.monotonic() - began, vault.masked)
        is_unlikely = not found and settings.memory.floor != "off"
        return RecallResult(found, likely.mode, likely.degraded, UNLIKELY if is_unlikely else "")

    def _piece(self, each: Remembered, pins: Pins, rank: int) -> Piece:
        """A passage with its receipt; its score keeps the order."""
        receipt = Receipt(each.path, each.lines, pins.commit(each.path), each.score, each.why)
        data = self.recall.workspace.vault.read(each.path) or b"" if each.kind == NOTE else b""
        origin = self.recall.foreign.source(each.path, data, each.lines) if each.kind == NOTE else ""
        origin = origin or guest_origin(self.asker, each.sender)
        return Piece(
            frame(each.model_text, origin) if origin else each.model_text,
            self.name,
            1.0 / (1.0 + rank),
            receipt,
            origin,
        )


def held_text(session: Session, asker: Asker) -> HeldText:
    """The text that the model of this person's run has already: not its own answers."""
    heard = session.heard_in(Began("", "", "", asker.sender))
    texts = (each.text for each in heard if not isinstance(each, Assistant))
    return HeldText.of((session.system, *texts))


def guest_origin(asker: Asker, sender: str) -> str:
    """The origin of a memory of this sender's words in the owner's run; empty for the owner's, and in a guest's run."""
    return named_guest(sender) if asker.is_owner and sender and sender != asker.sender else ""


def recall_source(
    workspace: Workspace, library: SearchIndex, tell: Callable[[object], object] = ignore_event
) -> RecallSource:
    """The searches over one index; `tell` publishes what was recalled."""
    return RecallSource(workspace, library, text_origin_of(workspace.vault), tell, WaitingStatements(workspace))


PIECES = 8
"""The most passages that come closest, where no other number is asked for."""


@dataclass(frozen=True, slots=True)
class RecallPreview:
    """The answer of the search, and for each passage the last commit of its note (None: it was edited since)."""

    answer: SearchResult
    commits: tuple[str | None, ...]


def closest(workspace: Workspace, index: SearchIndex, task: str, limit: int) -> SearchResult:
    """The best passages of the notes that may be offered."""
    answer = index.search(task, limit * SPARE, passages=True, explain=True)
    return replace(answer, hits=tuple(hit for hit in answer.hits if may_be_offered(hit, workspace.vault.home))[:limit])


def passages_for_run(
    workspace: Workspace, index: SearchIndex, asker: Asker, task: str, limit: int | None
) -> SearchResult:
    """The passages that a run for this task would get."""
    found = MemorySource(recall_source(workspace, index), asker).passages(task)
    hits = tuple(each.hit for each in found.found)
    return SearchResult(task, found.mode, index.engine, hits[:limit], found.degraded)


def preview_recall(workspace: Workspace, look: Callable[[], tuple[SearchResult, str | None]]) -> RecallPreview:
    """The result of `look` (and why the index is behind) with receipts: path, lines, commit, score and reasons."""
    answer, late = look()
    answer = replace(answer, degraded="; ".join(filter(None, [answer.degraded, late])) or None)
    found = sorted({hit.path for hit in answer.hits})
    edited = {item.path for item in workspace.vault.changed_files(found)} if found else set()
    vault = workspace.vault
    commits = (None if hit.path in edited else last_commit(vault, hit.path) for hit in answer.hits)
    return RecallPreview(answer, tuple(commits))
