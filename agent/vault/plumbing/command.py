"""GitPython's command class without the rest of its package, which no command line needs at its start.

`import git` reads some seventy modules of its object model and runs `git version`: 43 ms of processor time and a
process, of 110 ms that `status` has to itself. The class that runs commands needs ten of them: 16 ms and no process.
What is done with the class is `git`'s.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git.cmd import Git as Git
    from git.exc import GitCommandNotFound as GitCommandNotFound

_PACKAGES = ("git", "gitdb")


def _load() -> tuple[ModuleType, ModuleType]:
    """The modules `git.cmd` and `git.exc`; by way of the whole package where that is loaded, or cannot be avoided."""
    if "git" in sys.modules or not (bare := _bare()):
        return import_module("git.cmd"), import_module("git.exc")
    sys.modules.update(bare)
    try:
        found = import_module("git.cmd"), import_module("git.exc")
    except (ImportError, AttributeError):
        found = None
    for name in bare:  # whoever imports `git` later gets the whole package, with these same modules in it
        sys.modules.pop(name, None)
    return found or (import_module("git.cmd"), import_module("git.exc"))


def _bare() -> dict[str, ModuleType]:
    """The packages with the place of their modules, but without what their `__init__` would import."""
    made = {}
    for name in _PACKAGES:
        spec = find_spec(name)
        if spec is None or spec.submodule_search_locations is None:
            return {}
        made[name] = ModuleType(name)
        made[name].__path__ = list(spec.submodule_search_locations)
    return made


if not TYPE_CHECKING:
    _command, _errors = _load()
    Git, GitCommandNotFound = _command.Git, _errors.GitCommandNotFound
    Git.GIT_PYTHON_GIT_EXECUTABLE = Git.GIT_PYTHON_GIT_EXECUTABLE or "git"
