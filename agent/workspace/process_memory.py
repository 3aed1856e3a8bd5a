"""How a process that stays for long keeps small.

glibc gives each thread a heap of its own, up to eight for each processor, and keeps what is freed in it. Work that
follows other work, each in its thread, leaves one half-empty heap after the other: 40 short runs in a daemon took
200 MB that nothing used. With one heap for all they took 3 MB. The parts of a run also refer to each other, so that
only Python's search for garbage finds them.
"""

import gc
import sys
from contextlib import suppress

_ARENA_MAX = -8
"""The number of `M_ARENA_MAX` in glibc's `malloc.h`."""


def use_one_heap() -> None:
    """Let all threads of this process share a heap from now on; do nothing where the C library has no such setting."""
    _of_glibc("mallopt", _ARENA_MAX, 1)


def trim_memory() -> None:
    """Return freed memory to the system in about 10 ms; do nothing where the C library cannot."""
    _of_glibc("malloc_trim", 0)


def give_back_memory() -> None:
    """Look for all garbage, then return freed memory; for the moment after work, 0.1 s in a daemon."""
    gc.collect()
    trim_memory()


def _of_glibc(function: str, *numbers: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):  # only glibc has these functions
        getattr(ctypes.CDLL(None), function)(*numbers)
