"""Loads the server half of the SDK without its client half and its second server framework.

`import mcp.server` runs the `__init__` of both packages, which imports them all: a fifth of the time in which a program
waits for this one to start, and 12 MB in each of the processes that it keeps. The modules that serve import what they
need themselves.
"""

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_PACKAGES = ("mcp", "mcp.server")


def skip_client() -> None:
    """Let the two packages be found without running them. For a process that only serves; nothing once they are
    imported."""
    path = None
    for name in _PACKAGES:
        if name not in sys.modules:
            spec = PathFinder.find_spec(name, path)
            if spec is None:
                return
            sys.modules[name] = module_from_spec(spec)
        path = list(sys.modules[name].__path__)


def build_late() -> None:
    """Let the message types of each edition of the protocol be built when they are first used: a connection speaks one
    edition, and they are a fifth of the start."""
    name = "mcp_types"
    spec = PathFinder.find_spec(name)
    if spec is None or name in sys.modules:
        return
    sys.modules[name] = module_from_spec(spec)
    try:
        base = import_module("mcp_types._wire_base").WireModel
        base.model_config["defer_build"] = True
    except (ImportError, AttributeError):  # another version of the SDK: it starts a little later
        return
    finally:
        del sys.modules[name]
