"""The program that has started this process, by the system's list of processes and not by what it says of itself."""

import os
import re
import subprocess
from pathlib import Path, PurePath

from agent.dataclass import dataclass
from agent.interfaces.mcp.source import UNKNOWN

_STARTERS = {"sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "env", "nohup", "setsid", "timeout", "npm", "npx",
             "uv", "uvx", "pipx"}  # fmt: skip
"""Programs that start others for somebody: the one behind them counts."""
_INTERPRETER = re.compile(r"python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|ruby|perl|java|electron")
_PLAIN = {"index", "main", "__main__", "cli", "dist", "bin", "lib", "src", "build", "start", "server"}
"""Names that a script has in any program: the folder around it says more."""
_MOST = 8


@dataclass(frozen=True, slots=True)
class Process:
    """A process: the one that started it, and the words that it runs."""

    parent: int
    words: tuple[str, ...]


def parent_program() -> str:
    """The name of the program that has started this process."""
    number = os.getppid()
    for _ in range(_MOST):
        found = _process(number) if number > 1 else None
        if found is None:
            return UNKNOWN
        name = program_name(found.words)
        if name not in _STARTERS:
            return name
        number = found.parent
    return UNKNOWN


def program_name(words: tuple[str, ...]) -> str:
    """The name of the program that these words run; of one that an interpreter runs, that of its script or module."""
    path = PurePath(words[0].lstrip("-")) if words else PurePath()
    if not _INTERPRETER.fullmatch(path.name):
        return path.name or UNKNOWN
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "-m":
            break
        if option in {"-c", "-e", "--eval", "-p"}:
            return path.name
    script = PurePath(rest[0]) if rest else path
    while script.stem in _PLAIN and script.parent.name:
        script = script.parent
    return script.stem or path.name


def _process(number: int) -> Process | None:
    folder = Path("/proc") / str(number)
    try:
        words = tuple(
            part.decode("utf-8", "replace") for part in (folder / "cmdline").read_bytes().split(b"\0") if part
        )
        parent = int((folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
    except FileNotFoundError:
        return None if folder.parent.is_dir() else _listed(number)
    except (OSError, ValueError, IndexError):
        return None
    return Process(parent, words)


def _listed(number: int) -> Process | None:
    """The process as `ps` lists it, on a system that does not show processes as files."""
    command = ["ps", "-o", "ppid=,args=", "-p", str(number)]
    try:
        found = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=5, check=True).stdout
        parent, *words = found.split()
        return Process(int(parent), tuple(words))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
