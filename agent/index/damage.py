"""The error `Damaged`, and its mapping from errors of the passage store.

A damaged index is never a failure of the program: the next update rebuilds it. A held lock, a full disk and denied
access are not damage, since a rebuild would not help.
"""

import errno
import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from agent.errors import LockHeld, Permanent


class Damaged(Permanent):
    """A file of the index has changed or is missing. The next update rebuilds the index from the notes."""

    def __init__(self, sentence: str, /, **values: object) -> None:
        super().__init__(sentence, hint="vault-agent reindex builds the index again from the notes", **values)


@contextmanager
def store_errors() -> Iterator[None]:
    """Convert errors of SQLite, and of parsing its content, into `Damaged`.

    Raises `LockHeld` when another process holds the file, and `OSError` for a full disk or denied access.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _from_sqlite(error) from error
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, EOFError, struct.error) as error:
        raise Damaged("{path} cannot be read: {reason}", path="notes.db", reason=error) from error


def _from_sqlite(error: sqlite3.Error) -> Exception:
    match getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return LockHeld("another vault-agent is updating the index", hint="try again in a moment")
        case sqlite3.SQLITE_FULL:
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "notes.db")
        case sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return OSError(errno.EACCES, os.strerror(errno.EACCES), "notes.db")
        case _:
            return Damaged("{path} cannot be read: {reason}", path="notes.db", reason=error)
