"""The daemon as `vault-agent daemon` starts it, with the names of its threads given to the system, where `/proc` shows
them.

`python -m tests.bench.soak.named_daemon WORDS…` runs the command line with these words. With `SOAK_COUNTS` in the
environment, a SIGUSR1 writes the number of Python's objects of each type to that file, for finding what grows.
"""

import ctypes
import gc
import os
import signal
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

from agent.interfaces.cli.main import main

_SET_NAME = 15
"""The number of `PR_SET_NAME` in Linux's `prctl.h`; a name has at most 15 bytes."""
_LIBRARY = ctypes.CDLL(None)
_PROGRAM = "vault-agent-"


def _name_this_thread(frame: FrameType, event: str, argument: object) -> None:
    """The first thing that a new thread does: Python calls it as its profiler, once."""
    sys.setprofile(None)
    name = threading.current_thread().name.removeprefix(_PROGRAM)
    _LIBRARY.prctl(_SET_NAME, name.encode()[:15], 0, 0, 0)


def _count(path: Path) -> None:
    """Write the number of objects of each type, the most frequent first."""
    gc.collect()
    found = Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())
    with path.open("a", encoding="utf-8") as file:
        file.write(f"== {sum(found.values())} objects, {sys.getallocatedblocks()} blocks\n")
        file.writelines(f"{number} {name}\n" for name, number in found.most_common(400))


if __name__ == "__main__":
    threading.setprofile(_name_this_thread)
    if "SOAK_COUNTS" in os.environ:
        signal.signal(signal.SIGUSR1, lambda *_: _count(Path(os.environ["SOAK_COUNTS"])))
    sys.exit(main(sys.argv[1:]))
