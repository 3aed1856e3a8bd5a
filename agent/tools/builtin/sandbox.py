"""Sandboxes: the one that works on this machine, and the command that runs a program in it.

`bwrap` (bubblewrap) blocks a program from the network and from every file except the given folder; `unshare` only from
the network. Both are optional; the result of the call names the sandbox used.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from agent.dataclass import dataclass

_PROBE_SECONDS = 10.0
_ALWAYS_HIDDEN = ("/tmp", "/var/tmp", "/run", "/home", "/root", "/mnt", "/media")
"""Folders with people's files, other programs' sockets and keys."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to isolate a program. `files`: blocks all files outside its folder; `network`: blocks the network."""

    name: str
    program: str
    files: bool
    network: bool

    @property
    def description(self) -> str:
        """The restrictions of the sandbox, in one line for the result of a call."""
        if self.files and self.network:
            return f"sandbox: {self.name}, without network, with a copy of the notes and no other files of yours"
        if self.network:
            return f"sandbox: {self.name}, without network, but NOT kept from your files (bubblewrap would do that)"
        return "sandbox: NONE on this machine; the program had the network and all your files (install bubblewrap)"


NO_SANDBOX = Sandbox("none", "", files=False, network=False)


def sandboxed_command(
    sandbox: Sandbox, command: Sequence[str], folder: Path, home: Path, hidden: Sequence[Path]
) -> list[str]:
    """The command that runs `command` in the sandbox, in the writable `folder`.

    `hidden` are further folders that the program must not see.
    """
    match sandbox.name:
        case "bubblewrap":
            return [sandbox.program, *_bubblewrap(folder, home, hidden), "--", *command]
        case "unshare":
            return [sandbox.program, *_UNSHARE, "--", *command]
        case _:
            return list(command)


_UNSHARE = ("--user", "--map-root-user", "--net", "--ipc", "--pid", "--fork", "--kill-child=KILL", "--mount-proc")


def _bubblewrap(folder: Path, home: Path, hidden: Sequence[Path]) -> list[str]:
    paths = [Path(path) for path in _ALWAYS_HIDDEN] + [Path.home(), *hidden]
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in dict.fromkeys(path.resolve() for path in paths if path.is_dir() and path.resolve() != Path("/")):
        options += ["--tmpfs", str(path)]
    for path in (folder, home):
        options += ["--bind", str(path), str(path)]
    return [*options, "--chdir", str(folder)]


@cache
def best_sandbox() -> Sandbox:
    """The best sandbox that works here, tested once: many systems have the programs and forbid their use."""
    bubblewrap, unshare = shutil.which("bwrap"), shutil.which("unshare")
    if bubblewrap and _works([bubblewrap, *_bubblewrap(Path("/usr"), Path("/usr"), ()), "--", "true"]):
        return Sandbox("bubblewrap", bubblewrap, files=True, network=True)
    if unshare and _works([unshare, *_UNSHARE, "--", "true"]):
        return Sandbox("unshare", unshare, files=False, network=True)
    return NO_SANDBOX


def _works(command: list[str]) -> bool:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_PROBE_SECONDS,
            env={"PATH": os.defpath},
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
