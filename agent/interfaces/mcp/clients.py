"""The programs that use the vault, each with a name, and the state of its work: what it read, and what it was shown."""

import re
import threading
import unicodedata
from dataclasses import field

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.interfaces.mcp.definitions import Definition, ToolOffer
from agent.tools.policy import Permission, Policies
from agent.tools.tool import RunContext
from agent.vault.change import CLIENT

_LONGEST = 60
_STRANGE = re.compile(r"[^\w.]+")


def client_actor(name: str) -> str:
    """The actor of a program that calls itself `name`: `Claude Code` is `mcp:claude-code`."""
    plain = _STRANGE.sub("-", unicodedata.normalize("NFKC", name).casefold())[:_LONGEST].strip("-.")
    return f"{CLIENT}{plain or 'client'}"


@dataclass(frozen=True, slots=True)
class Client:
    """One program: the context of its calls, which all belong to one run, and the lock for its calls on notes."""

    context: RunContext
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(slots=True)
class Clients:
    """The programs that have called, by actor."""

    clock: Clock
    _known: dict[str, Client] = field(default_factory=dict)

    def named(self, name: str) -> Client:
        """The program that calls itself `name`: connections with one name are one program, with one taint."""
        actor = client_actor(name)
        if actor not in self._known:
            self._known[actor] = Client(RunContext(self.clock.new_id(), "", channel=actor))
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
