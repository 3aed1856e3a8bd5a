"""The index that the machines of one vault share, in PostgreSQL: which schema is searched, and who writes.

One row for each vault says which schema is the index. A new index is filled in a schema of its own while the old one is
searched; then the row names it, in one step. The only writer has an advisory lock for as long as its connection lasts:
one that is killed or cut off has lost it, and whatever it was writing.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path
from threading import Lock
from time import monotonic

from agent.clock import Clock
from agent.database.away import DatabaseAway
from agent.database.connection import SharedDatabase
from agent.database.tables import DatabaseTables
from agent.dataclass import dataclass
from agent.errors import LockHeld, Permanent
from agent.index.files import Damaged, WrittenElsewhere
from agent.index.postgres_session import IndexSession, schema_name
from agent.index.postgres_store import PostgresStore
from agent.index.postgres_vectors import make_graph

_CONTROL = "vault_agent"
_MAKE = (
    "create extension if not exists vector with schema public",
    "create table if not exists indexes (vault text primary key, live text not null default '', "
    "number int not null default 0, writer text not null default '', rebuild text not null default '')",
)
_LOOK = 5.0
"""Seconds for which it counts that no rebuild was asked for: the daemon asks with each turn."""
_LOOK_AGAIN = 30.0
"""The same while the server is away."""
_STEP = 0.1
_UNKNOWN = (0.0, "")


@dataclass(slots=True)
class PostgresPlace:
    """The shared index of one vault. `machine` is this machine's name, `folder` a folder of its own.

    Any method may raise `DatabaseAway`.
    """

    database: SharedDatabase
    machine: str
    folder: Path
    _control: DatabaseTables = field(init=False)
    _writer: IndexSession | None = field(default=None, init=False)
    _building: str = field(default="", init=False)
    _turn: Lock = field(default_factory=Lock, init=False)
    _known: tuple[float, str] = field(default=_UNKNOWN, init=False)

    def __post_init__(self) -> None:
        self._control = DatabaseTables(self.database, _CONTROL, _MAKE)

    @property
    def is_shared(self) -> bool:
        return True

    def inode(self) -> str | None:
        """The schema of the index, which changes with a rebuild; None without one."""
        return self._building or self._row()[0] or None

    def is_being_written(self) -> bool:
        """False: nobody sees an update before it is whole."""
        return False

    def exists(self) -> bool:
        """True if there is an index."""
        return bool(self._row()[0])

    def damage_met(self) -> str:
        """Why a rebuild was asked for; empty if it was not."""
        return self._row()[2]

    def why_broken(self) -> str:
        """The reason to rebuild the index (a reader found damage, or there is no index); empty for none."""
        until, known = self._known
        if (now := monotonic()) >= until:
            self._known = (now + _LOOK_AGAIN, "")  # for when the server is away, which may take seconds to be known
            live, _, rebuild = self._row()
            known = rebuild or ("" if live else "there was no index")
            self._known = (now + _LOOK, known)
        return known

    def writer_name(self) -> str:
        """The machine that wrote last."""
        return self._row()[1]

    def ask_for_rebuild(self, reason: str) -> None:
        """Ask whoever writes for a rebuild; does nothing when the server is away."""
        self._known = _UNKNOWN
        with suppress(DatabaseAway, Permanent):
            self._control.ask(
                "update indexes set rebuild = %s where vault = %s", reason or "damage", self.database.vault
            )

    def clear(self) -> None:
        """Begin a new schema, beside the one that is searched."""
        assert self._writer is not None
        with self._writer.transaction() as connection:
            row = connection.execute(
                f"insert into {_CONTROL}.indexes (vault, number) values (%s, 1) "
                "on conflict (vault) do update set number = indexes.number + 1 returning number, live",
                (self.database.vault,),
            ).fetchone()
            assert row is not None
            number, live = row
            self._drop_all_but(str(live))
        self._building = schema_name(self.database.vault, int(number))
        self._writer.enter(self._building)

    def publish(self, *, is_whole: bool) -> None:
        """Let readers search what was built: as soon as something can be found, if there was no index, else once it
        `is_whole`."""
        writer = self._writer
        assert writer is not None
        if is_whole:
            make_graph(writer)
        if not self._building or not (is_whole or not self._row()[0]):
            return
        with writer.transaction() as connection:
            live = "live = %s, rebuild = ''" if is_whole else "live = %s"
            query = f"update {_CONTROL}.indexes set {live}, writer = %s where vault = %s"
            connection.execute(query, (self._building, self.machine, self.database.vault))
        if is_whole:
            self._drop_all_but(self._building)
            self._building = ""

    def drop_old_vectors(self, *names: str) -> None:
        """Do nothing: there are no files."""

    @contextmanager
    def writing(self, clock: Clock, patience: float) -> Iterator[None]:
        """Write as the only one; keeps the right to it until `close`. Raises `LockHeld` after `patience` seconds, at
        once if another machine has it."""
        if not self._turn.acquire(timeout=max(patience, 0.0)):
            raise LockHeld("another vault-agent is updating the index", hint="try again in a moment")
        try:
            self.claim(clock, patience)
            self._known = _UNKNOWN
            yield
            self._known = _UNKNOWN
        except DatabaseAway:
            self._lose()
            raise
        finally:
            self._turn.release()

    def claim(self, clock: Clock, patience: float = 0.0) -> None:
        """Take the right to write, if this machine does not have it; raises `LockHeld`."""
        if self._writer is not None and self._writer.is_open:
            return
        self._lose()
        until = clock.monotonic() + patience
        live = self._row()[0]
        writer = IndexSession(self.database, live or _CONTROL, writes=True)
        try:
            while not self._is_claimed(writer):
                name = self.writer_name()
                if name != self.machine or clock.monotonic() >= until:
                    raise WrittenElsewhere(
                        "{machine} writes the shared index",
                        hint="it follows by itself; the claim passes on when that machine stops",
                        machine=name or "another machine",
                    )
                clock.sleep(_STEP)
            writer.enter(self._row()[0] or _CONTROL)
            with writer.reading() as connection:
                query = f"update {_CONTROL}.indexes set writer = %s where vault = %s"
                connection.execute(query, (self.machine, self.database.vault))
        except BaseException:
            writer.close()
            raise
        self._writer = writer

    def open_store(self, *, write: bool) -> PostgresStore:
        """The store of the index, or of the one that is being built; raises `Damaged` without one."""
        if write:
            assert self._writer is not None
            store = PostgresStore(self._writer, is_writer=True)
            if self._building:
                store.make()
            return store
        live = self._row()[0]
        if not live:
            raise Damaged("there is no shared index yet")
        return PostgresStore(IndexSession(self.database, live))

    def close(self) -> None:
        """Close the connections, and give the right to write back."""
        self._lose()
        self._control.close()

    def _lose(self) -> None:
        self._building = ""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _is_claimed(self, writer: IndexSession) -> bool:
        with writer.reading() as connection:
            row = connection.execute("select pg_try_advisory_lock(%s)", (_lock_number(self.database.vault),)).fetchone()
        return row is not None and bool(row[0])

    def _row(self) -> tuple[str, str, str]:
        """The schema that is searched, the machine that wrote last, and why a rebuild was asked for."""
        query = "select live, writer, rebuild from indexes where vault = %s"
        rows = self._control.ask(query, self.database.vault)
        return (str(rows[0][0]), str(rows[0][1]), str(rows[0][2])) if rows else ("", "", "")

    def _drop_all_but(self, schema: str) -> None:
        """Remove all other indexes of this vault."""
        assert self._writer is not None
        start = schema_name(self.database.vault, 0)[:-1]
        with self._writer.reading() as connection:
            query = "select nspname from pg_namespace where nspname ~ ('^' || %s || '[0-9]+$')"
            rows = connection.execute(query, (start,))
            for (name,) in rows.fetchall():
                if name != schema:
                    connection.execute(f'drop schema "{name}" cascade')


def _lock_number(vault: str) -> int:
    digest = hashlib.sha256(f"vault-agent index {vault}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
