"""Tables in the shared database that any thread asks, over one connection that is made again when it was cut."""

from collections.abc import Sequence
from dataclasses import field
from threading import Lock
from typing import Any

from agent.database.away import DatabaseAway, MissingThere
from agent.database.connection import Connection, SharedDatabase, database_errors
from agent.dataclass import dataclass

SECONDS = 5.0
"""Seconds after which the server ends a question: work waits for it."""


@dataclass(slots=True)
class DatabaseTables:
    """The tables of one schema, which are created when a question does not find them. Each question must be one that
    may be asked twice: its answer may be lost, and it is asked again then."""

    database: SharedDatabase
    schema: str
    tables: Sequence[str]
    """Statements that do nothing where the tables exist."""
    _connection: Connection | None = field(default=None, init=False)
    _turn: Lock = field(default_factory=Lock, init=False)

    def ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of the answer; raises `DatabaseAway` and `DatabaseFault`."""
        with self._turn:
            was_open = self._connection is not None
            try:
                return self._asked(query, values)
            except DatabaseAway:
                self.close()
                if not was_open:
                    raise  # else the connection was of before the server was started again
            except MissingThere:
                self._create()
            return self._asked(query, values)

    def close(self) -> None:
        """Close the connection; the next question makes another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()

    def _asked(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with database_errors():
            if self._connection is None:
                self._connection = self._opened()
            found = self._connection.execute(query, values)
            return found.fetchall() if found.description is not None else []

    def _opened(self) -> Connection:
        made = self.database.connect(seconds=SECONDS)
        try:
            made.execute(f'set search_path = "{self.schema}"')
        except BaseException:
            made.close()
            raise
        return made

    def _create(self) -> None:
        assert self._connection is not None
        with database_errors(), self._connection.transaction():
            self._connection.execute("select pg_advisory_xact_lock(7264001)")  # two that create it at once
            for each in (f'create schema if not exists "{self.schema}"', *self.tables):
                self._connection.execute(each)
