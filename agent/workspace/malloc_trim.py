"""Memory that is free goes back to the system after a lot of work, where the C library would keep it for ever.

An index update frees what it took, but glibc keeps freed memory in one heap for each thread that ever ran, in case it
is wanted again; a daemon that had one large checkout to take in would be large from then on.
"""

import sys
from contextlib import suppress


def trim_memory() -> None:
    """Have the C library return what is free; takes about 10 ms, and does nothing where it cannot be asked."""
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):  # another C library than glibc has no such function
        ctypes.CDLL(None).malloc_trim(0)
