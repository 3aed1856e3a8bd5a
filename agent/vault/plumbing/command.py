"""GitPython's command class, loaded without the rest of its package to make short commands start faster.

`import git` loads about seventy modules and runs `git version`: 43 ms of processor time and one process, out of 110 ms
for `vault-agent status`. The command class needs ten modules: 16 ms and no process. Its user is the module `git`.
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
    """The modules `git.cmd` and `git.exc`; through the whole package if that is loaded already or cannot be avoided."""
    if "git" in sys.modules or not (bare := _bare()):
        return import_module("git.cmd"), import_module("git.exc")
    sys.modules.update(bare)
    try:
        found = import_module("git.cmd"), import_module("git.exc")
    except (ImportError, AttributeError):
        found = None
    for name in bare:  # a later `import git` gets the whole package, with these same modules in it
        sys.modules.pop(name, None)
    return found or (import_module("git.cmd"), import_module("git.exc"))


def _bare() -> dict[str, ModuleType]:
    """Empty packages with the search path of their modules; the imports in their `__init__` are not run."""
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
