"""The system's C library, for the calls that Python lacks."""

import errno
import os
from functools import cache
from typing import Any

_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


@cache
def c_library(path: str | None = None) -> Any:
    """The C library, or the library of a path; raises `OSError`."""
    import ctypes  # 2 ms, and most commands change no file

    return ctypes.CDLL(path, use_errno=True)


def renamed(library: Any, function: str, folder: int, old: str, new: str, flag: int) -> bool:
    """Rename inside the folder (a descriptor) as the flag of this function says; False if it cannot be done here.

    Raises `OSError` for what stands in the way, such as `FileExistsError`.
    """
    import ctypes

    call = getattr(library, function, None)
    if call is None:
        return False
    if call(folder, os.fsencode(old), folder, os.fsencode(new), ctypes.c_uint(flag)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), new)
