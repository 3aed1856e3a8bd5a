"""The system that the program runs on."""

import sys
from collections.abc import Callable, Mapping

from agent.platform.linux import Linux
from agent.platform.macos import MacOs
from agent.platform.posix import Posix

_SYSTEMS: Mapping[str, Callable[[], Posix]] = {"linux": Linux, "darwin": MacOs}
_here = _SYSTEMS.get(sys.platform, Posix)()


def platform() -> Posix:
    """The system that the program runs on."""
    return _here
