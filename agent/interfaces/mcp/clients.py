"""The programs that use the vault, each with a name, and the state of its work: what it read, and what it was shown."""

import threading
from dataclasses import field
from functools import partial

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.interfaces.mcp.client_taint import ClientTaints
from agent.interfaces.mcp.definitions import Definition, ToolOffer
from agent.interfaces.mcp.source import CallSource
from agent.tools.policy import Permission, Policies
from agent.tools.tool import RunContext, Taint


@dataclass(frozen=True, slots=True)
class Client:
    """One program: the context of its calls, which all belong to one run, and the lock for its calls on notes."""

    context: RunContext
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(slots=True)
class Clients:
    """The programs that have called, by actor; `taints` are what they have read from strangers."""

    clock: Clock
    taints: ClientTaints
    _known: dict[str, Client] = field(default_factory=dict)
    _shared: dict[str, Taint] = field(default_factory=dict)

    def find(self, source: CallSource, claimed: str) -> Client:
        """The program that calls from there: connections of one actor are one program. All that call from one place
        have one taint, also after the server was started again: another claim is no way out of it."""
        actor = source.actor(claimed)
        if actor not in self._known:
            place = source.place
            if place not in self._shared:
                self._shared[place] = Taint(self.taints.sources(place), partial(self.taints.keep, place))
            taint = self._shared[place]
            self._known[actor] = Client(RunContext(self.clock.new_id(), "", channel=actor, taint=taint))
        return self._known[actor]


def offered(offer: ToolOffer, policies: Policies, client: Client) -> tuple[Definition, ...]:
    """The tools of an offer that the program may use, under the machine's policy."""
    policy = policies.choose(client.context).policy
    return tuple(
        each
        for each in offer.callable
        if (each.readonly or not offer.read_only)
        and policy.permission(each.stands_for[0], (each.group,)) is not Permission.DENY
    )
