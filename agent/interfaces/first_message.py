"""The first message of a program that has started this one, read from standard input before the library that serves it
is loaded: programs give a server little time to say hello. Nothing is imported here that is slow to load.
"""

import os
import sys
from contextlib import suppress
from fnmatch import filter as matching
from importlib import import_module

NAME = "vault-agent"
_LONGEST = 1_000_000
"""The most bytes of a first message that is answered here."""


def version() -> str:
    """The version of this program, from the name of the folder in which an installer notes it: the library that reads
    the note takes a fifth of the start."""
    begin, end = f"{NAME.replace('-', '_')}-", ".dist-info"
    for place in sys.path:
        with suppress(OSError):
            for found in matching(os.listdir(place or os.curdir), f"{begin}*{end}"):  # noqa: PTH208 - pathlib is slow
                return found.removeprefix(begin).removesuffix(end)
    return str(import_module("importlib.metadata").version(NAME))


def first_line() -> bytes:
    """The first line of standard input, byte by byte, as nothing after it may be taken away."""
    line = bytearray()
    while not line.endswith(b"\n") and len(line) < _LONGEST and (byte := os.read(0, 1)):
        line += byte
    return bytes(line)


def put_back(line: bytes) -> None:
    """Make standard input begin with a line that was read from it."""
    rest, (reads, writes) = os.dup(0), os.pipe()
    os.dup2(reads, 0)
    os.close(reads)

    def copy() -> None:
        data = line
        try:
            while data:
                write(writes, data)
                data = os.read(rest, 65_536)
        except OSError:  # nobody reads any more
            pass
        finally:
            os.close(writes)

    import_module("threading").Thread(target=copy, name="vault-agent-input", daemon=True).start()


def write(place: int, data: bytes) -> None:
    """Write all of it to a descriptor."""
    while data:
        data = data[os.write(place, data) :]
