"""Searches an index: keywords and vectors find candidate notes, the passage store scores them and returns the lines.

Never waits for the writer, never reads a note, never repairs. A damaged part is left out and named in `degraded`, and
the next update rebuilds it. Updating the index is left to `update`.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import field
from importlib import import_module
from itertools import repeat
from threading import Lock
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from agent.database.away import DatabaseAway, DatabaseFault
from agent.dataclass import dataclass
from agent.errors import Permanent
from agent.index import fusion, snippets
from agent.index.arrays import Batch, batch, term_hash
from agent.index.embedder import Embedder, EmbedderChoice
from agent.index.files import Damaged
from agent.index.keyword import Engine, KeywordIndex, Weights
from agent.index.note_store import NoteStore
from agent.index.parts import IndexPlace, Seal, VectorReader, load_vectors, open_keyword, open_seal, open_store
from agent.index.query import Hit, Mode, Query, SearchResult, answering_days, closeness, parse_query
from agent.index.records import Filters, StoredNote, is_attachment
from agent.index.signals import EncodedQuery, Row, Statistics, encode_query, meaning_signals, word_signals
from agent.index.snippets import Snippet
from agent.json_value import parse_json
from agent.texts import joined

_FEW = 200
"""If the filters leave at most this many notes, all of them are candidates."""
_OF_DAYS = 20
"""The most candidates for each date in the query."""
PATIENCE = 2.0
"""Seconds for which a small question waits for a search that is under way."""
UnsavedNote: TypeAlias = tuple[str, bytes]
"""A note that is not in the vault yet: the path that it would have, and its bytes."""
_NO_NOTES: Mapping[int, StoredNote] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The candidates of one query, ready to be scored."""

    encoded: EncodedQuery
    ids: Sequence[int]
    paths: Sequence[str]
    days: Sequence[str]
    found: Batch | None
    """None without candidates."""
    unsaved: Mapping[int, StoredNote]

    def records(self, store: NoteStore, numbers: Sequence[int]) -> Mapping[int, StoredNote]:
        """The notes with these numbers."""
        return {**store.records([each for each in numbers if each > 0]), **self.unsaved}

    @property
    def batch(self) -> Batch:
        assert self.found is not None
        return self.found


@dataclass(frozen=True, slots=True)
class _PreparedUnsaved:
    """Notes that are not in the index as they were prepared with an embedder: a recall asks several times."""

    unsaved: Sequence[UnsavedNote]
    embedder: Embedder | None
    notes: Sequence[StoredNote]


@dataclass(slots=True)
class Searcher:
    """Answers queries from one index; keeps its files open, and loads each finished update.

    Several threads may ask at the same time: one query after another uses the files.
    """

    files: IndexPlace
    engine: Engine
    chosen: EmbedderChoice
    weights: Weights
    _store: NoteStore | None = field(default=None, init=False)
    _inode: int | str | None = field(default=None, init=False)
    _keyword: KeywordIndex | None = field(default=None, init=False)
    _vectors: VectorReader | None = field(default=None, init=False)
    _seal: Seal | None = field(default=None, init=False)
    _seen: tuple[int | str | None, str] | None = field(default=None, init=False)
    _reasons: list[str] = field(default_factory=list, init=False)
    _prepared: _PreparedUnsaved | None = field(default=None, init=False)
    _turn: Lock = field(default_factory=Lock, init=False)

    def search(
        self,
        text: str,
        limit: int = 10,
        *,
        passages: bool = False,
        explain: bool = False,
        unsaved: Sequence[UnsavedNote] = (),
        without: tuple[Filters, ...] = (),
    ) -> SearchResult:
        """The best `limit` notes, or passages; `unsaved` are notes that the index does not have and that count like its
        own, `without` what is left out. Raises `UserError` for an invalid filter."""
        with self._turn:
            while True:
                try:
                    return self._answer(text, limit, [], unsaved, without, passages=passages, explain=explain)
                except (Damaged, DatabaseAway, DatabaseFault) as error:
                    self.close()  # a rebuilt index has other files with the same names
                    if isinstance(error, Damaged) and self.files.inode() not in (None, self._inode):
                        continue  # it was rebuilt meanwhile
                    self._met(error)
                    parse_query(text)  # an invalid query is an error here, too
                    return SearchResult(text, "none", self.engine, (), error.message)

    def folders(self) -> frozenset[str]:
        """The folders that have indexed notes, each with all folders above it; none if the index is damaged, or while a
        search hangs."""
        if not self._turn.acquire(timeout=PATIENCE):
            return frozenset()
        try:
            store = self._current_store()
            with store.snapshot():
                return store.folders()
        except (Damaged, DatabaseAway, DatabaseFault):
            return frozenset()
        finally:
            self._turn.release()

    def open(self) -> None:
        """Open the index ahead of a search, which says what is missing."""
        with self._turn, suppress(Permanent, DatabaseAway, OSError):
            store = self._current_store()
            with store.snapshot():
                self._refresh(store)

    def close(self) -> None:
        """Close all files."""
        if self._store is not None:
            self._store.close()
        if self._keyword is not None:
            self._keyword.close()
        self._store = self._keyword = self._vectors = self._seal = self._seen = None

    def _answer(
        self,
        text: str,
        limit: int,
        reasons: list[str],
        unsaved: Sequence[UnsavedNote],
        without: tuple[Filters, ...],
        *,
        passages: bool,
        explain: bool,
    ) -> SearchResult:
        store = self._current_store()
        with store.snapshot():
            self._refresh(store)
            reasons.extend(self._reasons)
            query = parse_query(text, store.facet_keys() if ":" in text else frozenset())
            query = Query(query.text, query.terms, query.days, query.filters.but(without))
            found = self._candidates(query, store, reasons, self._encoded(query, unsaved))
            hits: tuple[Hit, ...] = ()
            if found is not None and found.ids:
                hits = self._hits(query, found, store, limit, passages=passages, explain=explain)
            elif found is None:
                hits = _listed(store, query, limit)
        degraded = joined(dict.fromkeys(reasons), "; ") or None
        return SearchResult(text, self._mode(), self.engine, hits, degraded, text=query.text)

    def _current_store(self) -> NoteStore:
        """The store of the index that is there now, opened; raises `Damaged`."""
        now = self.files.inode()
        if self._store is not None and now != self._inode:
            self.close()  # the index was deleted or rebuilt
        if self._store is None:
            self._inode = now
            self._store = open_store(self.files, write=False)
        return self._store

    def _mode(self) -> Mode:
        if self._keyword is None:
            return "vector" if self._vectors is not None else "none"
        return "keyword" if self._vectors is None else "hybrid"

    def _refresh(self, store: NoteStore) -> None:
        """Open the files of the last finished update; a damaged part is left out, and its reason recorded."""
        seen = self._update_of(store)
        if seen == self._seen:
            return
        self._reasons = [self.chosen.notice] if self.chosen.notice else []
        busy = bool(store.pending())
        try:
            self._open_keyword(store, busy=busy)
        except Damaged as error:
            self._keyword = None
            self._met(error)
        try:
            self._open_vectors(store)
        except (Permanent, OSError) as error:
            self._vectors = None
            problem = Damaged("{problem}", problem=error)
            if not busy and self._is_settled(store):
                self._met(problem)
            elif not busy:  # nothing is damaged: later updates have deleted the vectors of the one that is read
                self._reasons.append(problem.message)
        self._seen = seen

    def _update_of(self, store: NoteStore) -> tuple[int | str | None, str]:
        """Which update the store is of; raises `Damaged` while the first one is at work."""
        if store.meta("building"):
            raise Damaged("the index is being built")
        return self._inode, store.meta("generation")

    def _open_keyword(self, store: NoteStore, *, busy: bool) -> None:
        self._seal = self._seal or open_seal(self.files, self.engine)
        if not busy:  # during an update its files and their checksums differ for a moment
            self._seal.verify()
            if not self._seal.is_of(int(store.meta("generation", "0"))) and self._is_settled(store):
                raise Damaged("the keyword index and the passage store are of different updates")
        self._keyword = self._keyword or open_keyword(self.files, self.engine, self.weights, store)
        self._keyword.refresh()

    def _open_vectors(self, store: NoteStore) -> None:
        held, self._vectors = self._vectors, None
        if self.chosen.embedder is None:
            return
        model = self.chosen.embedder
        if model.name not in parse_json(store.meta("identity")):
            self._reasons.append("the index was made with another model: keywords only until it is updated")
            return
        self._vectors = load_vectors(self.files, store, model.dimensions, held)

    def _met(self, error: Damaged | DatabaseAway | DatabaseFault) -> None:
        self._reasons.append(error.message)
        if isinstance(error, Damaged) and self.files.inode() is not None and not self.files.is_being_written():
            self.files.ask_for_rebuild(error.message)

    def _encoded(self, query: Query, unsaved: Sequence[UnsavedNote]) -> Mapping[int, StoredNote]:
        """The unsaved notes that satisfy the query's filters, as rows of the store with numbers of their own."""
        if not unsaved:
            return _NO_NOTES
        module = import_module("agent.index.prepare")  # it reads notes, which a search of the index does not
        embedder = self.chosen.embedder if self._vectors is not None else None
        asked, prepared = tuple(unsaved), self._prepared
        if prepared is None or prepared.unsaved != asked or prepared.embedder is not embedder:
            notes = module.encode_unsaved(asked, embedder, self.weights.fields)
            self._prepared = prepared = _PreparedUnsaved(asked, embedder, notes)
        found: Mapping[int, StoredNote] = module.satisfying(prepared.notes, query.filters)
        return found

    def _candidates(
        self, query: Query, store: NoteStore, reasons: list[str], unsaved: Mapping[int, StoredNote] = _NO_NOTES
    ) -> _Candidates | None:
        """The notes to score; None for a query of filters only."""
        allowed = np.sort(np.array(store.matching(query.filters))) if query.filters else None
        if not query.text:
            return None
        embedder = self.chosen.embedder if self._vectors is not None else None
        encoded = encode_query(query.text, [term_hash(term) for term in query.terms], embedder)
        if allowed is not None and len(allowed) <= _FEW:
            ids = allowed.tolist()
        else:
            ids = self._found(query, encoded, store, allowed, reasons)
        rows = store.data(ids)
        if len(rows) < len(ids) and self._is_settled(store):
            raise Damaged("notes.db is damaged: a note that was found has no row")
        rows = {**rows, **{number: (each.path, each.day, each.data) for number, each in unsaved.items()}}
        ordered = sorted(rows, key=lambda note: rows[note][0])  # by path: note numbers differ between two builds
        paths, days = [rows[note][0] for note in ordered], [rows[note][1] for note in ordered]
        arrays = batch([rows[note][2] for note in ordered]) if ordered else None
        return _Candidates(encoded, ordered, paths, days, arrays, unsaved)

    def _is_settled(self, store: NoteStore) -> bool:
        """True if this search has the files of the last update, and that update is finished.

        During an update, or after a killed one, the keyword engine may be newer than the store and find notes too
        early.
        """
        if self.files.is_being_written():
            return False
        with closing(open_store(self.files, write=False)) as now, now.snapshot():
            same = self.files.inode() == self._inode and now.meta("generation") == store.meta("generation")
            return same and not now.pending()

    def _found(
        self,
        query: Query,
        encoded: EncodedQuery,
        store: NoteStore,
        allowed: np.ndarray | None,
        reasons: list[str],
    ) -> list[int]:
        ids: list[int] = []
        if self._keyword is not None:
            try:
                ids.extend(self._keyword.search(query.terms, self.weights.keyword_candidates, allowed))
            except Damaged as error:
                self._keyword.close()
                self._keyword = None
                self._met(error)
                reasons.append(error.message)
        others = list(store.of_days([answering_days(day) for day in query.days if day.year], _OF_DAYS))
        if self._vectors is not None and len(encoded.vectors):
            try:
                others.extend(self._vectors.search(encoded.vector, self.weights.vector_candidates))
            except Damaged as error:
                self._vectors = None
                if self._is_settled(store):
                    self._met(error)
                reasons.append(error.message)
        if allowed is not None:
            near = np.array(others, np.int64)
            others = near[np.isin(near, allowed)].tolist()
        return list(dict.fromkeys((*ids, *others)))

    def _signals(self, query: Query, found: _Candidates, store: NoteStore) -> dict[str, Row]:
        encoded = found.encoded
        totals = store.totals()
        statistics = Statistics(
            *(totals.notes, totals.units, totals.terms / max(totals.notes, 1), totals.terms / max(totals.units, 1)),
            totals.hood_terms / max(totals.units, 1),
            store.frequencies(list(encoded.terms)),
            found.paths,
            store.notes_under,
        )
        raw = word_signals(encoded, found.batch, statistics, self.weights)
        if self._vectors is not None and self.chosen.embedder is not None:
            raw |= meaning_signals(encoded, found.batch, self.chosen.embedder)
        raw["date"] = np.array([closeness(query.days, day) for day in found.days])
        return raw

    def _hits(
        self, query: Query, found: _Candidates, store: NoteStore, limit: int, *, passages: bool, explain: bool
    ) -> tuple[Hit, ...]:
        raw = self._signals(query, found, store)
        of_units = fusion.score_units(raw, found.batch, self.weights)
        if passages:
            chosen = snippets.best_snippets(of_units.scores, found.batch, self.weights, limit)
            records = found.records(store, [found.ids[snippet.note] for snippet in chosen])
            legs = of_units.legs([each.best for each in chosen]) if explain else repeat(())
            return tuple(
                _hit(records[found.ids[each.note]], each, each.score, found, why)
                for each, why in zip(chosen, legs, strict=False)
            )
        of_notes = fusion.score_notes(raw, found.batch, self.weights)
        order = sorted(range(found.batch.notes), key=lambda at: (-of_notes.scores[at], found.paths[at]))
        order = [at for at in order[:limit] if of_notes.scores[at] > 0]
        records = found.records(store, [found.ids[at] for at in order])
        ends = snippets.snippet_ends(found.batch, self.weights)
        legs = of_notes.legs(order) if explain else repeat(())
        return tuple(
            _hit(
                records[found.ids[at]],
                snippets.snippet_of_note(at, of_units.scores, found.batch, self.weights, ends),
                float(of_notes.scores[at]),
                found,
                why,
            )
            for at, why in zip(order, legs, strict=False)
        )


def _listed(store: NoteStore, query: Query, limit: int) -> tuple[Hit, ...]:
    """The notes that satisfy the filters of a query without text, in the order of their paths."""
    if not query.filters.but(()):
        return ()
    records = sorted(store.records(store.matching(query.filters).tolist()).values(), key=lambda record: record.path)
    return tuple(_hit(record, None, 0.0, None, ()) for record in records[:limit])


def _hit(record: StoredNote, snippet: Snippet | None, score: float, found: _Candidates | None, why: tuple) -> Hit:  # type: ignore[type-arg]
    lines = record.text.split("\n")
    if snippet is None or found is None:
        return Hit(record.path, record.title, record.name, score, (1, 1), lines[0].rstrip("\r"), (), why, record.facets)
    arrays = found.batch.arrays
    start = int(found.batch.note_ends[snippet.note - 1]) if snippet.note else 0
    headings = next((path for at, path in reversed(record.headings) if at <= snippet.best - start), ())
    if is_attachment(record.path):  # a page is named, so the passage is of that page
        snippet = snippets.of_one_part(snippet, [start + at for at, _ in record.headings])
    first, last = int(arrays.first[snippet.first]), int(arrays.last[snippet.last])
    passage = "\n".join(line.removesuffix("\r") for line in lines[first - 1 : last])
    return Hit(record.path, record.title, record.name, score, (first, last), passage, headings, why, record.facets)
