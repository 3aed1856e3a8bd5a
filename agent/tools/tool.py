"""A tool: a name, a schema, and a function that does it; with what a call of it knows about its run.

Wrappers (`policy`, `approvals`, `taint`, limits) take a tool and return a tool. What a call gives back to the model is
text, with what the rest of the program wants to know of it beside.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from agent.llm.messages import Object, ToolSpec
from agent.llm.provider import Cancelled, never


@dataclass(slots=True)
class Taint:
    """Whether untrusted text (web, mail, foreign notes, another program) has come into a run, and from where.

    Once it has, it stays until the run ends. `loop` makes one for each run and keeps it with the session.
    """

    sources: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.sources)

    def mark(self, source: str) -> None:
        """Note that text from `source` has been read."""
        if source not in self.sources:
            self.sources.append(source)


@dataclass(frozen=True, slots=True)
class RunContext:
    """The run that a call belongs to: who asked, through what, and the call's own id.

    `role` is `owner` for the person whose vault it is, else `guest`. `session` is the session note's path.
    """

    run: str
    session: str
    call: str = ""
    channel: str = "cli"
    role: str = "owner"
    sender: str = ""
    taint: Taint = field(default_factory=Taint)
    cancelled: Cancelled = never

    def at(self, call: str) -> "RunContext":
        """The same run, at the call of this id."""
        return replace(self, call=call)


@dataclass(frozen=True, slots=True)
class Cited:
    """Lines of a note that a tool has shown the model; inclusive, from 1 in the file."""

    path: str
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Given:
    """What a call gave: the text for the model, the notes it shows, the commits it made.

    `untrusted` names where the text comes from when that is not this vault's owner: the run is tainted by it.
    """

    text: str
    sources: tuple[Cited, ...] = ()
    commits: tuple[str, ...] = ()
    untrusted: str = ""


Perform: TypeAlias = Callable[[Object, RunContext], Given]
"""Does it. Arguments have been checked against the schema. Raises `ToolRetry` or `ToolFailed` with a text for the
model, `StopRun` to end or pause the run; any other error is shown to the model in plain words, too."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `groups` are what policy speaks of (`fs`, `search`, `memory`, `web`, `exec`, `human`, `orchestration`).

    `readonly`: changes nothing and may run beside other calls. `egress`: what is in its arguments leaves the machine.
    `timeout` in seconds; `result_limit` in characters of the text given to the model.
    """

    name: str
    description: str
    parameters: Object
    perform: Perform
    groups: frozenset[str]
    readonly: bool = False
    egress: bool = False
    timeout: float = 30.0
    result_limit: int = 16_000

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        return ToolSpec(self.name, self.description, self.parameters)
