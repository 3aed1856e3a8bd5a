"""A running git process: its input and output, its time limit, and what it may be waiting for.

`git` chooses the options. Loaded with the first process that a command starts: many commands start none.
"""

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO

from agent.dataclass import dataclass
from agent.errors import GitFailed, Retryable, UserError
from agent.git.hazards import READERS, Hazard, hazards
from agent.platform.here import platform

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


LOOK_SECONDS = 1.0
"""Seconds after which a running command causes a search for what it may be waiting for (`hazards`)."""


class Obstructed(UserError):
    """git waits for something that never comes, or takes too long; `hazard` is the cause."""

    def __init__(self, hazard: Hazard) -> None:
        super().__init__(str(hazard), hint=hazard.hint)
        self.hazard = hazard


class TooSlow(Retryable):
    """A git command was ended after its time limit; it is unknown how far it has come."""


class GitProgram:
    """The git program, as it is started for one repository."""

    def __init__(self, gitdir: Path, worktree: Path) -> None:
        self._gitdir = gitdir
        self._worktree = worktree
        self._command = Git(str(worktree))
        self._path = shutil.which("git") or "git"

    def start(
        self, args: Sequence[str], stdin: bytes | BinaryIO, environment: Mapping[str, str], timeout: float
    ) -> "Running":
        """Start `git ARGS` with this input; raises `UserError` without a git."""
        fed = stdin if isinstance(stdin, bytes) else None
        try:
            process = self._command.execute(
                [self._path, *args],
                istream=subprocess.PIPE if isinstance(stdin, bytes) else stdin,
                as_process=True,
                env=environment,
                start_new_session=True,  # Ctrl-C is for this program, which decides; git ends what it has begun
            )
        except GitCommandNotFound as error:
            raise UserError("git is not installed, or not on the PATH", hint="install git 2.34 or newer") from error
        assert isinstance(process, Git.AutoInterrupt)
        return Running(args[0], process, fed, timeout, self._gitdir, self._worktree)


@dataclass(slots=True)
class Running:
    """A running git command. `process` is GitPython's wrapper, stored because its deletion ends the process."""

    name: str
    process: Git.AutoInterrupt
    stdin: bytes | None
    timeout: float
    gitdir: Path
    worktree: Path
    code: int = -1
    stderr: bytes = b""
    waited: bool = False

    def limit_file(self, most: int) -> None:
        """Let the command, and what it will start, write no file of more than `most` bytes (0: of any size), where the
        system can do that; it is ended then. Call this at once: what was started before is not limited."""
        process = self.process.proc
        if process is None or not most:
            return
        platform().limit_file(process.pid, most)

    def end(self) -> None:
        """Kill the process, with those that it has started, if it has not been waited for."""
        if not self.waited:
            self.kill()

    def kill(self) -> None:
        """Kill the process and those that it has started: a transfer's helper, an ssh."""
        process = self.process.proc
        if process is None or process.returncode is not None:
            return
        platform().kill_group(process.pid)
        process.kill()
        with suppress(subprocess.TimeoutExpired, ValueError):  # a child in a session of its own may hold the pipes
            process.communicate(timeout=LOOK_SECONDS)

    def wait(self, ok: Sequence[int] = (0,)) -> bytes:
        """Send the input, wait, and return standard output; raises `GitFailed`, or `TooSlow` after the time limit.

        Raises `Obstructed` early if the command waits for a pipe or for a costly pattern.
        """
        process = self.process.proc
        if process is None:
            raise GitFailed(self.name, -1, "it was waited for already")
        self.waited = True
        # After the last byte, `communicate` polls in steps of 1 ms, which is longer than some commands take.
        process.wait = lambda timeout=None: type(process).wait(process)  # type: ignore[method-assign]
        try:
            out, err = self._communicate(process)
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise TooSlow(
                "git {name} did not finish in {timeout:.0f} s", name=self.name, timeout=self.timeout
            ) from error
        finally:
            del process.wait  # it refers to its process, whose output would stay until garbage is looked for
        self.code, self.stderr = process.returncode, err
        if self.code not in ok:
            raise GitFailed(self.name, self.code, err.decode("utf-8", "replace"))
        return bytes(out)

    def _communicate(self, process: "subprocess.Popen[bytes]") -> tuple[bytes, bytes]:
        early = min(LOOK_SECONDS, self.timeout / 2)
        try:
            return process.communicate(self.stdin, timeout=early)
        except subprocess.TimeoutExpired:
            found = next(hazards(self.gitdir, self.worktree, folders=self.name in READERS), None)
            if found is not None:
                self.kill()
                raise Obstructed(found) from None
            return _outputs(process, self.timeout - early)


def _outputs(process: "subprocess.Popen[bytes]", seconds: float) -> tuple[bytes, bytes]:
    """The outputs of a process; what there is of them if it has ended and a child of it holds the pipes open."""
    ended = False
    while True:
        step = min(LOOK_SECONDS, seconds)
        try:
            return process.communicate(timeout=step)
        except subprocess.TimeoutExpired as error:
            seconds -= step
            if ended:
                return error.output or b"", error.stderr or b""
            ended = process.poll() is not None
            if ended:
                seconds = LOOK_SECONDS
            elif seconds <= 0:
                raise
