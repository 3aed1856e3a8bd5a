"""The notes that tools may read and change; other paths raise an error with a text for the model.

The rules are in `vault.folders`; approval of a change is left to `taint` and `approvals`. A tool that reads calls
`check_readable` for what was asked for, and `may_read` for each note that it gives.
"""

from collections.abc import Sequence

from agent.errors import ToolRetry
from agent.vault.folders import AgentFolder, Reader, WriteRule, is_hidden
from agent.vault.store import Vault
from agent.vault.worktree.paths import check_inside

_ENDINGS = (".md", ".txt", ".csv", ".canvas", ".base")
"""Files that people read and no program runs."""
_NOT_FOR_TOOLS = "{path} is not for tools to change: only the person and the program itself write there"


def check_writable(path: str, home: AgentFolder, only: Sequence[str] | None = None) -> str:
    """`path`, if tools may write there, in a run that may change only the paths that begin with one of `only` (None:
    any); raises `BadPath` or `ToolRetry` with a text for the model. A note that is new there needs a name for which
    there are more rules: `paths.check`."""
    check_inside(path, system=False)
    if home.write_rule(path) is WriteRule.PROGRAM:
        raise ToolRetry(_NOT_FOR_TOOLS.format(path=path))
    if only is not None and not any(_is_below(path, each) for each in only):
        raise ToolRetry(f"{path} is not for this run to change: it may write {', '.join(only) or 'no note'}")
    return path


def check_not_private(vault: Vault, path: str) -> str:
    """`path`, unless the person keeps it from the agent: refused in the same words as what only they write, whether a
    note is there or not. Raises `ToolRetry`."""
    if vault.private_notes.have(path):
        raise ToolRetry(_NOT_FOR_TOOLS.format(path=path))
    return path


def may_relink(path: str, home: AgentFolder, only: Sequence[str] | None = None) -> bool:
    """True if a tool may write a link in the note again without being asked about it: in no note that steers the agent
    or is its record."""
    if home.write_rule(path) is not WriteRule.FREE:
        return False
    return only is None or any(_is_below(path, each) for each in only)


def _is_below(path: str, start: str) -> bool:
    """True for the note or folder `start`, and for what is in it; names are compared exactly."""
    return path == start or path.startswith(f"{start.rstrip('/')}/")


def check_text(path: str) -> str:
    """`path`, if it names a text file; raises `ToolRetry`."""
    if not path.endswith(_ENDINGS):
        raise ToolRetry(f"{path} is no note: its name must end in {', '.join(_ENDINGS)}")
    return path


def check_readable(path: str) -> str:
    """`path`, if it is valid and not hidden; raises `BadPath` or `ToolRetry` with a text for the model."""
    check_inside(path, system=False)
    if is_hidden(path):
        raise ToolRetry(f"{path} is hidden, and not for tools to read")
    return path


def may_read(role: str, path: str, home: AgentFolder) -> bool:
    """True if a person in this role may see the note: a guest sees only the vault owner's own notes."""
    return role == "owner" or home.row(path).read is Reader.GUEST
