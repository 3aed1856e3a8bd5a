"""What the contract suite needs of a channel's rig; `tests/contracts/test_channels.py` lists them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from agent.attention.channels.channel import Channel
from tests.attention.servers import Fault


@dataclass(frozen=True)
class Shown:
    """A message as the service has taken it: its whole text as the person reads it, and the replies of its buttons.

    `key` is the same for two tries of one message if the service can tell that they are; empty if it cannot.
    """

    text: str
    replies: tuple[str, ...] = ()
    key: str = ""


class Rig(Protocol):
    """A channel with its local server."""

    @property
    def channel(self) -> Channel: ...

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that no message, log line or proof may hold."""

    @property
    def limit(self) -> int:
        """The most characters of one message; 0: no limit."""

    @property
    def faults(self) -> frozenset[Fault]:
        """The faults that this service can have."""

    @property
    def asks_to_wait(self) -> bool:
        """True if the service says how long to wait when it is busy."""

    @property
    def tells_a_wrong_key(self) -> bool:
        """True if a key that the service refuses can be told from other faults."""

    def shown(self) -> Sequence[Shown]:
        """What the service has taken, in order."""

    def misbehave(self, *faults: Fault) -> None:
        """The faults that the next requests meet."""

    def change_key(self) -> None:
        """From now on the service refuses the channel's key."""

    def calls(self) -> int:
        """The number of requests that reached the service."""

    def sent_on(self) -> int:
        """The number of requests that reached the server to which `moved` sends on."""


OpenRig: TypeAlias = Callable[[], AbstractContextManager[Rig]]
