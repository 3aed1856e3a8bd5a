"""The system that the program runs on. The others' modules are not loaded."""

import sys
from collections.abc import Mapping
from importlib import import_module

from agent.platform.posix import Posix

_SYSTEMS: Mapping[str, tuple[str, str]] = {
    "linux": ("agent.platform.linux", "Linux"),
    "darwin": ("agent.platform.macos", "MacOs"),
}


def _make() -> Posix:
    module, name = _SYSTEMS.get(sys.platform, (Posix.__module__, Posix.__name__))
    system: Posix = getattr(import_module(module), name)()
    return system


_here = _make()


def platform() -> Posix:
    """The system that the program runs on."""
    return _here
