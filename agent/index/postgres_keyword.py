"""The keyword index in PostgreSQL: the postings of `postgres_postings`, scored here as Whoosh's and tantivy's are.

A part is never changed, so that the long rows of frequent terms are fetched once and stay in memory.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.database.connection import SharedDatabase
from agent.dataclass import dataclass
from agent.index.arrays import hash_terms
from agent.index.files import Damaged
from agent.index.keyword import Engine, FieldTerms, Weights
from agent.index.postgres_postings import (
    SCHEMA,
    Postings,
    add_notes,
    join_parts,
    parse_postings,
    remove_notes,
    signed,
)
from agent.index.postgres_session import IndexSession, schema_name

_HELD = 64_000_000
"""Bytes of rows that stay in memory."""
_LONG = 8_000
"""Bytes from which a row is worth it."""
_DENSE = 16
"""Notes for each posting up to which scores are added in one array of all notes."""


@dataclass(slots=True)
class PostgresKeyword:
    """A `KeywordIndex` in PostgreSQL; see `keyword`. One that has its `session` alone closes it."""

    session: IndexSession
    weights: Weights
    owns_session: bool = False
    _parts: list[int] = field(default_factory=list)
    _gone: dict[int, NDArray[np.int32]] = field(default_factory=dict)
    _notes: int = 0
    _terms: int = 0
    _held: dict[tuple[int, int], bytes] = field(default_factory=dict)
    _size: int = 0

    @property
    def name(self) -> Engine:
        return "postgres"

    def change(self, added: Iterable[tuple[int, FieldTerms]], removed: Iterable[int]) -> None:
        with self.session.transaction() as connection:
            if not self.session.has("part"):
                connection.execute(SCHEMA)
            remove_notes(connection, sorted({*removed}))
            add_notes(connection, added, {name: each for name, each in self.weights.fields.items() if each})
            join_parts(connection)
        self.refresh()

    def refresh(self) -> None:
        with self.session.reading() as connection:
            if not self.session.has("part"):
                self.close()
                raise Damaged("{path} is missing", path="the keyword index in the shared database")
            rows = connection.execute("select id, notes, terms, gone from part order by id").fetchall()
        self._parts = [row[0] for row in rows]
        self._gone = {row[0]: np.sort(np.array(row[3], np.int32)) for row in rows if row[3]}
        self._notes, self._terms = sum(row[1] for row in rows), sum(row[2] for row in rows)
        for key in [key for key in self._held if key[0] not in set(self._parts)]:
            self._size -= len(self._held.pop(key))

    def search(self, terms: Sequence[str], count: int, allowed: NDArray[np.int64] | None = None) -> list[int]:
        asked = signed(np.unique(hash_terms(terms))).tolist()
        average = self._terms / max(self._notes, 1)
        notes, scores = [np.zeros(0, np.int32)], [np.zeros(0, np.float32)]
        for found in self._found(asked):
            having = sum(len(each.notes) for each in found)
            idf = np.log1p((self._notes - having + 0.5) / (having + 0.5)) if having <= self._notes else 0.0
            notes += [each.notes for each in found]
            scores += [self._saturated(each, average) * np.float32(idf) for each in found]
        return _best(np.concatenate(notes), np.concatenate(scores), count, allowed)

    def count(self) -> int:
        return self._notes

    def rest(self) -> None:
        """Do nothing: it has no thread of its own."""

    def close(self) -> None:
        self._parts, self._notes, self._size = [], 0, 0
        self._held.clear()
        if self.owns_session:
            self.session.close()

    def _found(self, terms: Sequence[int]) -> list[list[Postings]]:
        """The postings of each of these terms that has any, a row for each part."""
        rows: dict[int, list[Postings]] = {}
        for part, term, data in (*self._held_rows(terms), *self._fetched(terms)):
            found = parse_postings(data)
            rows.setdefault(term, []).append(found.without(self._gone[part]) if part in self._gone else found)
        return [*rows.values()]

    def _held_rows(self, terms: Sequence[int]) -> list[tuple[int, int, bytes]]:
        keys = [(part, term) for part in self._parts for term in terms]
        return [(*key, self._held[key]) for key in keys if key in self._held]

    def _fetched(self, terms: Sequence[int]) -> list[tuple[int, int, bytes]]:
        """The rows that are not in memory."""
        wanted = [(part, term) for part in self._parts for term in terms if (part, term) not in self._held]
        if not wanted:
            return []
        query = (
            "select p.part, p.term, p.data from unnest(%s::int[], %s::int[]) as w (part, term) "
            "join posting p on p.part = w.part and p.term = w.term"
        )
        with self.session.reading() as connection, connection.cursor(binary=True) as cursor:
            found = cursor.execute(query, [*map(list, zip(*wanted, strict=True))]).fetchall()
        for part, term, data in found:
            if len(data) >= _LONG:
                if self._size > _HELD:
                    self._held.clear()
                    self._size = 0
                self._held[part, term] = data
                self._size += len(data)
        return found

    def _saturated(self, found: Postings, average: float) -> NDArray[np.float32]:
        k1, b = self.weights.k1, self.weights.b
        longer = found.lengths * np.float32(b / max(average, 1e-9)) + np.float32(1 - b)
        saturated = found.weights * np.float32(k1 + 1) / (found.weights + np.float32(k1) * longer)
        return saturated.astype(np.float32, copy=False)


def _best(
    notes: NDArray[np.int32], scores: NDArray[np.float32], count: int, allowed: NDArray[np.int64] | None
) -> list[int]:
    """The notes with the highest sums of their scores, at most `count`, the best first."""
    if allowed is not None:
        inside = np.isin(notes, allowed)
        notes, scores = notes[inside], scores[inside]
    if not len(notes):
        return []
    if int(notes.max()) < _DENSE * len(notes):
        sums = np.bincount(notes, scores)
        notes = np.flatnonzero(sums).astype(np.int32)
        sums = sums[notes]
    else:
        notes, at = np.unique(notes, return_inverse=True)
        sums = np.bincount(at, scores)
    if len(sums) > count * 4:
        few = np.argpartition(-sums, count)[:count]
        notes, sums = notes[few], sums[few]
    found: list[int] = notes[np.lexsort((notes, -sums))[:count]].tolist()
    return found


def open_postgres_keyword(folder: Path, weights: Weights) -> PostgresKeyword:
    """The keyword index of a name, by itself, in the database that the environment names."""
    database = SharedDatabase(os.environ["VAULT_AGENT_DATABASE__URL"], os.fspath(folder))
    session = IndexSession(database, schema_name(database.vault, 0), writes=True)
    return PostgresKeyword(session, weights, owns_session=True)
