"""Tables in the shared database that any thread asks, over one connection."""

from collections.abc import Sequence
from dataclasses import field
from threading import Lock
from typing import Any

from agent.database.away import MissingThere
from agent.database.connection import Connection, SharedDatabase
from agent.database.held import HeldConnection
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
    _held: HeldConnection = field(init=False)
    _turn: Lock = field(default_factory=Lock, init=False)

    def __post_init__(self) -> None:
        self._held = HeldConnection(self.database, f'set search_path = "{self.schema}"', SECONDS)

    def ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of the answer; raises `DatabaseAway` and `DatabaseFault`."""

        def rows(connection: Connection) -> list[tuple[Any, ...]]:
            found = connection.execute(query, values)
            return found.fetchall() if found.description is not None else []

        with self._turn:
            try:
                return self._held.ask(rows)
            except MissingThere:
                self._held.ask(self._create)
            return self._held.ask(rows)

    def close(self) -> None:
        """Close the connection; the next question makes another."""
        self._held.close()

    def _create(self, connection: Connection) -> None:
        with connection.transaction():
            connection.execute("select pg_advisory_xact_lock(7264001)")  # two that create it at once
            for each in (f'create schema if not exists "{self.schema}"', *self.tables):
                connection.execute(each)
