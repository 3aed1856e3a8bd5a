"""What an error of the passage store means: damage, which is built anew, or a machine that does not let us.

A damaged cache is never a failure of the program. A held lock, a full disk and denied access are not damage: building
the index anew would not help there.
"""

import errno
import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from agent.errors import LockHeld
from agent.index.checksums import Damaged


@contextmanager
def damage() -> Iterator[None]:
    """Errors of the database and of what it holds become `Damaged`; where the file is only held by another process, the
    disk is full or access is denied, `LockHeld` or `OSError`."""
    try:
        yield
    except sqlite3.Error as error:
        raise _meaning(error) from error
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, EOFError, struct.error) as error:
        raise Damaged(f"notes.db cannot be read: {error}") from error


def _meaning(error: sqlite3.Error) -> Exception:
    match getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return LockHeld("another vault-agent is updating the index", hint="try again in a moment")
        case sqlite3.SQLITE_FULL:
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "notes.db")
        case sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return OSError(errno.EACCES, os.strerror(errno.EACCES), "notes.db")
        case _:
            return Damaged(f"notes.db cannot be read: {error}")
