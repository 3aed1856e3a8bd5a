"""Connections to the shared database: never waited for long, and their errors in plain words.

Nothing here repeats the address: it holds a password.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from re import compile as pattern
from time import monotonic
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg import errors
from psycopg.abc import PQGen

from agent.database.away import REST, DatabaseAway, DatabaseFault, MissingThere
from agent.dataclass import dataclass
from agent.errors import LockHeld
from agent.texts import Sentence

T = TypeVar("T")
Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
CONNECT_SECONDS = 3
"""Seconds for which a new connection is waited for, for each address of the server."""
_DEAD_MILLISECONDS = 5_000
"""Milliseconds after which a server that does not acknowledge what was sent counts as gone."""
READ_SECONDS = 10
"""Seconds after which the server ends a question of a reader."""
_GRACE = 2.0
"""Seconds after that until the connection is closed: a server that stands still ends nothing."""
_UNESCAPED = pattern("[a-z]+://[^@]*[/?#@].*@")
"""An address in which a part of the password may be taken for a host, which errors name."""
_AWAY = (
    errors.OperationalError,  # no server, a cut connection, a server that starts or ends, a question that took too long
    errors.InterfaceError,
)
_VECTORS = "install pgvector 0.7 or later on the server, and run there: create extension vector"
_HINTS: dict[type[Exception], str] = {
    errors.InsufficientPrivilege: (
        "all machines need the same role, and it CREATE: grant create on database NAME to ROLE"
    ),
    errors.ReadOnlySqlTransaction: "database.url has to name the server that is written to, not a copy of it",
    errors.UndefinedObject: _VECTORS,
    errors.FeatureNotSupported: _VECTORS,
}


class _LimitedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that closes itself when an answer takes longer than `limit` seconds, if `may_last` does not allow it
    as many again."""

    limit = READ_SECONDS + _GRACE
    may_last: Callable[[], bool] = bool

    def wait(self, gen: PQGen[T], *options: Any, **more: Any) -> T:
        return super().wait(self._limited(gen), *options, **more)

    def _limited(self, gen: PQGen[T]) -> PQGen[T]:
        until = monotonic() + self.limit
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and monotonic() > until:
                    if not self.may_last():
                        self.pgconn.finish()
                        raise errors.OperationalError("it does not answer")
                    until = monotonic() + self.limit
                wanted = gen.send(ready)
        except StopIteration as end:
            found: T = end.value
            return found


@dataclass(slots=True)
class SharedDatabase:
    """A database by its address (a URL or a connection string of libpq, with its password), and the name under which
    the vault's things stand there."""

    url: str
    vault: str
    _away_until: float = field(default=0.0, init=False)
    _reason: object = field(default="", init=False)

    def __repr__(self) -> str:
        return f"SharedDatabase({self.vault!r})"

    def connect(self, *, seconds: float = READ_SECONDS, beginning: str = "") -> Connection:
        """A new connection that has run the statements of `beginning`, and of which no question lasts longer than
        `seconds` (0: any may, as long as the server takes new connections). Raises `DatabaseAway`, at once if the
        server was away a moment ago, and what the statements do."""
        if monotonic() < self._away_until:
            raise DatabaseAway(self._reason)
        options = f"-c statement_timeout={int(seconds * 1000)} -c lock_timeout=10s -c client_min_messages=error"
        try:
            made = _LimitedConnection.connect(
                self.url,
                client_encoding="UTF8",
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
                tcp_user_timeout=_DEAD_MILLISECONDS,
                keepalives_idle=5,
                keepalives_interval=2,
                keepalives_count=2,
                application_name="vault-agent",
                options=options,
            )
        except errors.ProgrammingError:
            raise DatabaseFault(
                "database.url is no address of a PostgreSQL server",
                hint="write postgresql://name:password@host/database, or host=… dbname=… user=…",
            ) from None  # its words have a part of the address
        except _AWAY as error:
            self._reason, self._away_until = self._why_away(error), monotonic() + REST
            raise DatabaseAway(self._reason) from None
        if seconds:
            made.limit = seconds + _GRACE
        else:
            made.may_last = self._takes_connections
        try:
            _check_encoding(made)
            if beginning:
                made.execute(beginning)
        except BaseException:
            made.close()
            raise
        return made

    def _takes_connections(self) -> bool:
        """False if the server stands still: its machine still acknowledges what is sent to it, so that nothing else
        tells this from a long question."""
        try:
            psycopg.connect(self.url, connect_timeout=CONNECT_SECONDS).close()
        except errors.Error as error:  # any other error is an answer, or the connection is cut as well
            return not isinstance(error, errors.ConnectionTimeout)
        return True

    def _why_away(self, error: BaseException) -> object:
        if _UNESCAPED.match(self.url):
            return Sentence("a password with @, /, ? or # has to be written with %40, %2F, %3F or %23")
        return _reason(error)

    def forget_absence(self) -> None:
        """Try the server again with the next connection, also if it was away a moment ago."""
        self._away_until = 0.0


@contextmanager
def database_errors() -> Iterator[None]:
    """Convert errors of psycopg: `DatabaseAway`, `OSError` for a full disk, and `DatabaseFault` for all others."""
    try:
        yield
    except errors.DiskFull as error:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "PostgreSQL") from error
    except tuple(_HINTS) as error:
        raise DatabaseFault(
            "the shared database refuses it: {reason}", hint=_HINTS[type(error)], reason=_reason(error)
        ) from error
    except errors.LockNotAvailable as error:
        raise LockHeld("the shared database is busy: {reason}", reason=_reason(error)) from error
    except _AWAY as error:
        raise DatabaseAway(_reason(error)) from error
    except errors.Error as error:
        raise MissingThere("the shared database answers: {reason}", reason=_reason(error)) from error


def _check_encoding(made: Connection) -> None:
    if (encoding := made.info.parameter_status("server_encoding")) != "UTF8":
        raise DatabaseFault(
            "the shared database holds text as {encoding}, which has not all characters",
            hint="make another: create database NAME encoding 'UTF8' template template0",
            encoding=encoding,
        )


def _reason(error: BaseException) -> str:
    """The first line of what the server or the system says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
