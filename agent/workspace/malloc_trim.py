"""Return of freed memory to the system after much work; the C library would keep it.

An index update frees its memory, but glibc keeps freed memory for reuse, in one heap for each thread that ever ran.
After one large checkout, a daemon would stay large.
"""

import sys
from contextlib import suppress


def trim_memory() -> None:
    """Return freed memory to the system in about 10 ms; do nothing where the C library cannot."""
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):  # only glibc has this function
        ctypes.CDLL(None).malloc_trim(0)
