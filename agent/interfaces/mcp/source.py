"""Where a program's calls come from, and the name in its commits that follows.

What a program calls itself is no proof: its name is that of its configuration, of its token, or of the process that has
started the server. Only behind one of a process, or of a token that several share, stands what it says of itself.
"""

import os
import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePath

from agent.dataclass import dataclass
from agent.platform.here import platform
from agent.vault.change import CLIENT

UNKNOWN = "client"
"""The name of a program that cannot be found out."""
_LONGEST, _SHARED, _OWN = 60, 24, 35
_STRANGE = re.compile(r"[^\w.]+")


def plain_name(name: str) -> str:
    """A name as it stands in an actor: `Claude Code` is `claude-code`; empty if nothing of it is left."""
    plain = _STRANGE.sub("-", unicodedata.normalize("NFKC", name).casefold())[:_LONGEST]
    return plain.strip("-.")


@dataclass(frozen=True, slots=True)
class CallSource:
    """Where calls come from: the `name` that is known of it. `is_program`: the name is one program's alone, as the
    person has given it; else it is shared, and what the program calls itself is added."""

    name: str
    is_program: bool = True

    @property
    def place(self) -> str:
        """The actor without what a program calls itself."""
        name = plain_name(self.name) or UNKNOWN
        return f"{CLIENT}{name if self.is_program else name.replace('.', '-')[:_SHARED]}"

    def actor(self, claimed: str) -> str:
        """The actor of a program there that calls itself `claimed`, such as `mcp:claude-code` or `mcp:node.cursor`."""
        if self.is_program:
            return self.place
        return f"{self.place}.{plain_name(claimed)[:_OWN].strip('-.') or UNKNOWN}"


_STARTERS = {"sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "env", "nohup", "setsid", "timeout", "npm", "npx",
             "uv", "uvx", "pipx"}  # fmt: skip
"""Programs that start others for somebody: the one behind them counts."""
_INTERPRETER = re.compile(r"python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|ruby|perl|java|electron")
_PLAIN = {"index", "main", "__main__", "cli", "dist", "bin", "lib", "src", "build", "start", "server"}
"""Names that a script has in any program: the folder around it says more."""
_MOST = 8


def parent_program() -> str:
    """The name of the program that has started this process."""
    number = os.getppid()
    for _ in range(_MOST):
        found = platform().process(number) if number > 1 else None
        if found is None:
            return UNKNOWN
        parent, words = found
        name = program_name(words)
        if name not in _STARTERS:
            return name
        number = parent
    return UNKNOWN


def program_name(words: Sequence[str]) -> str:
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
