"""The values that every route works with: the vault, its search, the runs that were asked for, and what happens."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field

from agent.background.asked_runs import AskedRuns
from agent.background.feed import Feed
from agent.background.pool import Pool
from agent.dataclass import dataclass
from agent.events.bus import Bus
from agent.index.model_files import OnDemand
from agent.interfaces.http.door.port import OpenPort, PortRequest
from agent.interfaces.http.door.sign_in import SignIn
from agent.interfaces.http.following import Happening
from agent.workspace.search_index import SearchIndex
from agent.workspace.workspace import Workspace


@dataclass(slots=True)
class SharedSearch:
    """One search index for all requests of a server: one request at a time searches in it. Its files are closed when
    nobody has searched for a while."""

    index: SearchIndex
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: OnDemand[SearchIndex] = field(init=False)

    def __post_init__(self) -> None:
        self._open = OnDemand(lambda: self.index, self._close)

    @contextmanager
    def held(self) -> Iterator[SearchIndex]:
        """The index, for this block only; it rests until the next one."""
        with self._lock:
            try:
                yield self._open.get()
            finally:
                self.index.rest()

    def _close(self, index: SearchIndex) -> None:
        with self._lock:
            index.close()


@dataclass(frozen=True, slots=True)
class Service:
    """What one daemon's doors give access to. `bus` and `pool` are the daemon's own, `changes` are its events.

    `open_port` raises `UserError` for a port that is taken; `urls` are the addresses of the ports that are open.
    """

    workspace: Workspace
    index: SharedSearch
    pool: Pool
    bus: Bus
    runs: AskedRuns
    changes: Feed[Happening]
    sign_in: SignIn
    open_port: Callable[[PortRequest], OpenPort]
    urls: Callable[[], tuple[str, ...]]
