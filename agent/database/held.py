"""A connection to the shared database that is opened when it is first used, and again after it was closed or cut."""

from collections.abc import Callable
from dataclasses import field
from typing import TypeVar

from agent.database.away import DatabaseAway
from agent.database.connection import READ_SECONDS, Connection, SharedDatabase, database_errors
from agent.dataclass import dataclass

T = TypeVar("T")


@dataclass(slots=True)
class HeldConnection:
    """One connection of `SharedDatabase.connect`, with the statements that each new one begins with."""

    database: SharedDatabase
    beginning: str
    seconds: float = READ_SECONDS
    opened: Connection | None = field(default=None, init=False)
    """The connection that is open, or was cut without anybody having met it; None: the next use opens one."""

    def connection(self) -> Connection:
        """The connection; raises what `SharedDatabase.connect` does."""
        if self.opened is None:
            self.opened = self.database.connect(seconds=self.seconds, beginning=self.beginning)
        return self.opened

    def ask(self, work: Callable[[Connection], T]) -> T:
        """The result of work that may be done twice: again with a new connection, if the one that was open was cut, as
        by a restart of the server. Raises what `database_errors` does."""
        was_open = self.opened is not None
        try:
            with database_errors():
                return work(self.connection())
        except DatabaseAway:
            self.close()
            if not was_open:
                raise
        return self.ask(work)

    def begin(self, beginning: str) -> None:
        """Begin with other statements, now and with each new connection."""
        self.beginning = beginning
        if self.opened is not None:
            self.opened.execute(beginning)

    def close(self) -> None:
        """Close the connection, also a broken one."""
        opened, self.opened = self.opened, None
        if opened is not None:
            opened.close()

    def __del__(self) -> None:
        self.close()
