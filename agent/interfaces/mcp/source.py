"""Where a program's calls come from, and the name in its commits that follows.

What a program calls itself is no proof: its name is that of its configuration, of its token, or of the process that has
started the server. Only behind one of a process, or of a token that several share, stands what it says of itself.
"""

import re
import unicodedata

from agent.dataclass import dataclass
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
