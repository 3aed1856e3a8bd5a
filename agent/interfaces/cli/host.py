"""Where a command finds its vault and its search index: opened by this process, or by the daemon that answers it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from agent.app.open import open_workspace
from agent.dataclass import dataclass
from agent.interfaces.cli.output import Output
from agent.prefetch import Prefetch
from agent.workspace.catch_up import open_ahead
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.workspace.search_index import SearchIndex


@dataclass(frozen=True, slots=True)
class Host:
    """The daemon in which a command runs: its vault, and its index, which is used in a block of `held` only."""

    workspace: Workspace
    index: "SearchIndex"
    held: "Callable[[], AbstractContextManager[SearchIndex]]"


_HOST: ContextVar[Host | None] = ContextVar("host", default=None)


def run_in(host: Host) -> None:
    """Let the commands of this context run in a daemon."""
    _HOST.set(host)


def workspace_for(output: Output) -> Workspace:
    """The workspace of the vault at hand; raises `NotAVault` or `ConfigError`."""
    host = _HOST.get()
    return open_workspace(output.vault()) if host is None else host.workspace


def index_for(workspace: Workspace) -> "tuple[SearchIndex, Prefetch[dict[str, str]] | None]":
    """As `open_ahead`; to be used in a block of `using`."""
    host = _HOST.get()
    return open_ahead(workspace) if host is None else (host.index, None)


@contextmanager
def using(index: "SearchIndex") -> "Iterator[SearchIndex]":
    """The index for this block; closed after it, unless it is the daemon's."""
    host = _HOST.get()
    with closing(index) if host is None else host.held():
        yield index
