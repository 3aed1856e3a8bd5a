"""Updates an index to the vault's notes, at a cost proportional to the number of changed notes.

The order of writes makes a stop at any point harmless. First the numbers of the notes that will change are recorded as
pending, then the keyword engine is written, then the vectors, and one database transaction at the end makes everything
valid. The next update repeats pending notes; files that do not match each other, or have changed since they were
written, are rebuilt. Listing and reading notes is left to the caller.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TypeAlias

from agent.clock import Clock
from agent.config.private import make_folder
from agent.dataclass import dataclass
from agent.index import manifest
from agent.index.embedder import EmbedderChoice
from agent.index.files import Damaged
from agent.index.identity import index_identity
from agent.index.ingest import Ingestion, NoteReader, Prepare, says_never
from agent.index.keyword import Engine, KeywordIndex, Weights
from agent.index.note_store import NoteStore
from agent.index.parts import AnyVectorWriter, IndexPlace, Seal, open_keyword, open_seal, open_store, vector_writer
from agent.index.passage_store import VERSION
from agent.index.processes import preparing

Progress: TypeAlias = Callable[[int, int], object]
"""Is told how many notes are indexed, and how many will be in all."""
_FIRST = 200
"""Notes after which a first index can be searched: two seconds of work, so that nobody waits for all of it."""
_MORE = 5
"""How many times as many notes each further part has: few parts, since each rewrites the counts."""


def ignore_progress(done: int, of: int) -> None:
    """Do nothing; for callers that show no progress."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The result of an update. `rebuilt` is the reason why the whole index was rebuilt, empty if it was not."""

    indexed: int = 0
    forgotten: int = 0
    moved: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    rebuilt: str = ""
    generation: int = 0


@dataclass(slots=True)
class Updater:
    """The writer of one index; keeps its files open between updates. One at a time, among all processes."""

    files: IndexPlace
    engine: Engine
    chosen: EmbedderChoice
    weights: Weights
    clock: Clock
    patience: float = 5.0
    progress: Progress = ignore_progress
    is_private: Callable[[str, bytes], bool] = says_never
    """Whether a note with these bytes at this path is kept from the agent; such a note is not indexed."""
    commit: Callable[[], str] = str
    """The commit that the vault is at, for an index that other machines search."""
    _store: NoteStore | None = field(default=None, init=False)
    _keyword: KeywordIndex | None = field(default=None, init=False)
    _vectors: AnyVectorWriter | None = field(default=None, init=False)
    _seal: Seal | None = field(default=None, init=False)
    _generation: int = field(default=-1, init=False)
    _inode: int | str | None = field(default=None, init=False)

    def update(self, listed: Mapping[str, str], read: NoteReader, *, verify: bool = False) -> IndexReport:
        """Update the index to the vault's notes; `listed` has every note's path and content hash.

        `verify` first reads every byte of the index, to find damage that no search has found. Raises `LockHeld` when
        another process is updating it.
        """
        with self.files.writing(self.clock, self.patience), self._at_work():
            try:
                return self._update(listed, read, verify=verify)
            except Damaged as error:
                self._give_up(error)
                return self._update(listed, read, verify=False)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Let the keyword engine rest after the block."""
        try:
            yield
        finally:
            if self._keyword is not None:
                self._keyword.rest()

    def _update(self, listed: Mapping[str, str], read: NoteReader, *, verify: bool) -> IndexReport:
        reason = self._open(verify=verify)
        store = self._opened()
        unfinished = store.pending()
        known = store.hashes()
        if known == listed and not unfinished and not reason:  # as mostly: of 100,000, a plan takes ten times as long
            return IndexReport(generation=self._generation)
        plan = manifest.plan_update(known, listed, (path for path, _ in unfinished))
        return self._perform(plan, listed, read, unfinished, reason)

    def touch(self, changed: Mapping[str, str | None], read: NoteReader) -> IndexReport | None:
        """Update the index for these changed paths only (None: the note was deleted); fast after a single edit.

        Returns None when the index must be rebuilt or finished first: then call `update` with the whole listing.
        """
        with self.files.writing(self.clock, self.patience), self._at_work():
            try:
                if self._open(verify=False) or self._opened().pending():
                    return None
                known = self._opened().hashes_of(changed)
                listed = {path: digest for path, digest in changed.items() if digest is not None}
                return self._perform(manifest.plan_update(known, listed), listed, read, [], "")
            except Damaged as error:
                self._give_up(error)
                return None

    def _give_up(self, error: Damaged) -> None:
        """Request a rebuild because of damage found during an update."""
        self.close()
        self.files.ask_for_rebuild(error.message)

    def close(self) -> None:
        """Close all files; the next update opens them again."""
        if self._store is not None:
            self._store.close()
        if self._keyword is not None:
            self._keyword.close()
        self._store = self._keyword = self._vectors = self._seal = None
        self._generation = -1

    def _opened(self) -> NoteStore:
        assert self._store is not None
        return self._store

    @property
    def identity(self) -> str:
        """The engine, model and field weights of the index; an index with other ones cannot be updated."""
        return index_identity(self.engine, self.chosen, self.weights)

    def _open(self, *, verify: bool) -> str:
        """Open the index, or start a new one; returns the reason for a new one, else empty."""
        try:
            reason = self._reopen(verify=verify)
        except Damaged as error:
            reason = error.message
        if not reason:
            return ""
        self.close()
        self.files.clear()
        self._start()
        return reason

    def _reopen(self, *, verify: bool) -> str:
        if reason := self.files.why_broken():
            return reason
        if self.files.inode() != self._inode:
            self.close()  # another process has rebuilt it
        if self._store is None:
            self._store = open_store(self.files, write=True)
            self._inode = self.files.inode()
        if self._store.meta("identity") != self.identity:
            return "the index was made with another engine, model or field weights"
        if verify:
            self._store.verify()
        generation = int(self._store.meta("generation", "0"))
        if generation != self._generation or verify:
            self._load(generation, verify=verify)
        return ""

    def _load(self, generation: int, *, verify: bool) -> None:
        """Open the engine and the vectors of a generation; raises `Damaged` when they have changed since they were
        written."""
        store = self._opened()
        self._seal = self._seal or open_seal(self.files, self.engine)
        self._keyword = self._keyword or open_keyword(self.files, self.engine, self.weights, store)
        finished = not store.pending()
        if finished:
            self._seal.verify()
        if finished and not self._seal.is_of(generation):
            raise Damaged("the keyword index and the passage store are of different updates")
        self._keyword.refresh()
        self._vectors = self._no_vectors()
        if self._vectors is not None:
            self._vectors.load(store.meta("vectors"), verify=verify)
        self._generation = generation

    def _no_vectors(self) -> AnyVectorWriter | None:
        """The writer of new vectors; None without a model."""
        model = self.chosen.embedder
        return vector_writer(self.files, model.dimensions, self._opened()) if model is not None else None

    def _start(self) -> None:
        """Start an empty index."""
        make_folder(self.files.folder)
        self._store = open_store(self.files, write=True)
        self._inode = self.files.inode()
        self._seal = open_seal(self.files, self.engine)
        self._keyword = open_keyword(self.files, self.engine, self.weights, self._store)
        self._vectors = self._no_vectors()
        self._generation = 0
        with self._store.transaction():
            self._store.set_meta("version", str(VERSION))
            self._store.set_meta("building", "1")

    def _perform(
        self,
        plan: manifest.UpdatePlan,
        listed: Mapping[str, str],
        read: NoteReader,
        unfinished: Sequence[tuple[str, int]],
        reason: str,
    ) -> IndexReport:
        if not plan and not reason and not unfinished:
            return IndexReport(generation=self._generation)
        parts = _first_parts(plan) if self._generation == 0 else (plan,)
        done: list[Ingestion] = []
        with preparing(len(plan.write), self.chosen, self.weights.fields) as prepare:
            for part in parts:
                before = sum(each.indexed for each in done)
                done.append(self._change(part, listed, read, unfinished, prepare, (before, len(plan.write))))
                unfinished = ()
                self.files.publish(is_whole=False)
        self.files.publish(is_whole=True)
        return IndexReport(
            sum(work.indexed for work in done),
            len(plan.forget) - len(plan.moved),
            plan.moved,
            tuple(each for work in done for each in work.skipped),
            tuple(each for work in done for each in work.failed),
            reason,
            self._generation,
        )

    def _change(
        self,
        plan: manifest.UpdatePlan,
        listed: Mapping[str, str],
        read: NoteReader,
        unfinished: Sequence[tuple[str, int]],
        prepare: Prepare,
        so_far: tuple[int, int],
    ) -> Ingestion:
        """Carry out a plan; then the index is of the next generation. `so_far`: notes that were indexed, and of how
        many."""
        store = self._opened()
        known = store.ids((*plan.write, *plan.forget))
        after = int(store.meta("next", "1"))
        fresh = {path: after + at for at, path in enumerate(path for path in plan.write if path not in known)}
        numbers = fresh | known
        gone = sorted({*known.values(), *(number for _, number in unfinished)})
        touched = [(path, numbers[path]) for path in (*plan.write, *plan.forget) if path in numbers]
        with store.transaction():
            store.set_pending(list(dict.fromkeys((*unfinished, *touched))))  # earlier pending notes stay pending
            store.set_meta("next", str(after + len(fresh)))
        before, all_notes = so_far
        vectors_before = self._vectors_names
        try:
            work = Ingestion(store, self._vectors, prepare, numbers, listed)
            work.is_private = self.is_private
            work.report = lambda indexed: self.progress(before + indexed, all_notes)
            with store.transaction():
                self._write(work, plan, read, gone)
        except BaseException:
            self.close()  # the data in memory is half changed; the next update loads it again
            raise
        self._generation += 1
        # Those of before stay until the next update: a reader may just be about to open them.
        self.files.drop_old_vectors(*vectors_before, *self._vectors_names)
        return work

    @property
    def _vectors_names(self) -> tuple[str, ...]:
        return self._vectors.names if self._vectors is not None else ()

    def _write(self, work: Ingestion, plan: manifest.UpdatePlan, read: NoteReader, gone: Sequence[int]) -> None:
        assert self._keyword is not None and self._seal is not None
        generation = self._generation + 1
        work.forget(gone)
        self._keyword.change(work.stream(plan.write, read), gone)
        self._seal.write(generation)
        if self._vectors is not None:
            work.store.set_meta("vectors", self._vectors.save())
        work.finish()
        facts = {"identity": self.identity, "generation": str(generation), "building": ""}
        for key, value in (facts | {"commit": self.commit()} if self.files.is_shared else facts).items():
            work.store.set_meta(key, value)
        work.store.set_pending([])


def _first_parts(plan: manifest.UpdatePlan) -> Iterator[manifest.UpdatePlan]:
    """The plan of a first index in parts, each of which leaves a whole index of its notes."""
    start, size = 0, _FIRST
    while start < len(plan.write) or not start:
        end = len(plan.write) if start + size * _MORE // 2 > len(plan.write) else start + size
        yield manifest.UpdatePlan(plan.write[start:end], plan.forget if not start else ())
        start, size = max(end, 1), size * _MORE
