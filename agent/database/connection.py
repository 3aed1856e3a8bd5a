"""Connections to the shared database: never waited for long, and their errors in plain words.

Nothing here repeats the address: it holds a password.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from time import monotonic
from typing import Any, TypeAlias

import psycopg
from psycopg import errors

from agent.database.away import REST, DatabaseAway, DatabaseFault, MissingThere
from agent.dataclass import dataclass
from agent.errors import LockHeld

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
CONNECT_SECONDS = 3
"""Seconds for which a new connection is waited for, for each address of the server."""
_DEAD_MILLISECONDS = 5_000
"""Milliseconds after which a server that does not acknowledge what was sent counts as gone."""
READ_SECONDS = 10
"""Seconds after which the server ends a question of a reader."""
_AWAY = (
    errors.OperationalError,  # no server, a cut connection, a server that starts or ends, a question that took too long
    errors.InterfaceError,
)


@dataclass(slots=True)
class SharedDatabase:
    """A database by its address (a URL or a connection string of libpq, with its password), and the name under which
    the vault's things stand there."""

    url: str
    vault: str
    _away_until: float = field(default=0.0, init=False)
    _reason: str = field(default="", init=False)

    def __repr__(self) -> str:
        return f"SharedDatabase({self.vault!r})"

    def connect(self, *, seconds: float = READ_SECONDS) -> Connection:
        """A new connection, of which no question lasts longer than `seconds` (0: any may). Raises `DatabaseAway`, at
        once if the server was away a moment ago."""
        if monotonic() < self._away_until:
            raise DatabaseAway(self._reason)
        options = f"-c statement_timeout={int(seconds * 1000)} -c lock_timeout=10s -c client_min_messages=error"
        try:
            made = psycopg.connect(
                self.url,
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
                tcp_user_timeout=_DEAD_MILLISECONDS,
                keepalives_idle=5,
                keepalives_interval=2,
                keepalives_count=2,
                application_name="vault-agent",
                options=options,
            )
        except errors.ProgrammingError as error:
            raise DatabaseFault(
                "database.url is no address of a PostgreSQL server",
                hint="write postgresql://name:password@host/database, or host=… dbname=… user=…",
            ) from error
        except _AWAY as error:
            self._reason, self._away_until = _reason(error), monotonic() + REST
            raise DatabaseAway(self._reason) from error
        return made

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
    except errors.InsufficientPrivilege as error:
        raise DatabaseFault(
            "the shared database refuses it: {reason}",
            hint="grant this role CREATE on the database: grant create on database NAME to ROLE",
            reason=_reason(error),
        ) from error
    except (errors.UndefinedObject, errors.FeatureNotSupported) as error:
        raise DatabaseFault(
            "the shared database lacks something: {reason}",
            hint="install pgvector 0.7 or later on the server, and run there: create extension vector",
            reason=_reason(error),
        ) from error
    except errors.LockNotAvailable as error:
        raise LockHeld("the shared database is busy: {reason}", reason=_reason(error)) from error
    except _AWAY as error:
        raise DatabaseAway(_reason(error)) from error
    except errors.Error as error:
        raise MissingThere("the shared database answers: {reason}", reason=_reason(error)) from error


def close_quietly(connection: Connection | None) -> None:
    """Close a connection, also a broken one."""
    if connection is not None:
        connection.close()


def _reason(error: BaseException) -> str:
    """The first line of what the server or the system says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
