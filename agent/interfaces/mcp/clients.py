"""The programs that use the vault, each with a name, and the state of its work: what it read, and what it was shown."""

import json
import threading
from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path

from agent.clock import Clock
from agent.config import durable
from agent.dataclass import dataclass
from agent.interfaces.mcp.definitions import Definition, ToolOffer
from agent.interfaces.mcp.source import CallSource
from agent.json_value import parse_json
from agent.tools.policy import Permission, Policies
from agent.tools.text_origin import without_path
from agent.tools.tool import RunContext, Taint

REMEMBERED = timedelta(days=1)
"""The time after which a program that has read nothing more of strangers begins anew."""
TAINT_FOLDER = "clients"
"""The folder in a vault's private one with what each program has read from strangers."""
_UNKNOWN = "what it has read before"


@dataclass(frozen=True, slots=True)
class ClientTaints:
    """The sources of strangers' text by program, one small file each in `folder`."""

    folder: Path
    clock: Clock

    def sources(self, actor: str) -> list[str]:
        """What this program has read from strangers; a file that cannot be read counts as something."""
        try:
            at, sources = parse_json(self._file(actor).read_text("utf-8"))
            is_over = self.clock.now() - datetime.fromisoformat(at) > REMEMBERED
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError):
            return [_UNKNOWN]
        return [] if is_over else [str(each) for each in sources]

    def keep(self, actor: str, sources: Sequence[str]) -> None:
        """Record what this program has read from strangers by now; durable when this returns."""
        names = list(dict.fromkeys(map(without_path, sources)))
        durable.replace(self._file(actor), json.dumps([self.clock.now().isoformat(), names]))

    def _file(self, actor: str) -> Path:
        return self.folder / f"{sha256(actor.encode()).hexdigest()[:32]}.json"


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
