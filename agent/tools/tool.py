"""A tool: a name, a schema and a function; with what a call knows about its run, and what it returns.

Wrappers (`wrappers`, `approvals`, `taint`) take a tool and return a tool.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from agent.llm.messages import JsonObject, ToolSpec
from agent.llm.provider import Cancelled, never
from agent.tools.shown_notes import ShownNotes


@dataclass(slots=True)
class Taint:
    """The sources of untrusted text (web, mail, others' notes, another program) that a run has read; false for none.

    A taint stays until the run ends. `loop` makes one for each run and keeps it with the session.
    """

    sources: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.sources)

    def mark(self, source: str) -> None:
        """Record that text from `source` has been read."""
        if source not in self.sources:
            self.sources.append(source)


@dataclass(frozen=True, slots=True)
class RunContext:
    """The run that a call belongs to: who asked, through what, and the call's own id.

    `role` is `owner` for the person whose vault it is, else `guest`. `session` is the session note's path. `shown` is
    what the model was shown; it starts empty in a sub-run and after a restart. `resumed`: this very call was asked for
    before the run stopped, and may have been carried out.
    """

    run: str
    session: str
    call: str = ""
    channel: str = "cli"
    role: str = "owner"
    sender: str = ""
    taint: Taint = field(default_factory=Taint)
    cancelled: Cancelled = never
    shown: ShownNotes = field(default_factory=ShownNotes)
    resumed: bool = False

    def at(self, call: str) -> "RunContext":
        """Return the context of the call with this id, in the same run."""
        return replace(self, call=call)


@dataclass(frozen=True, slots=True)
class Cited:
    """Lines of a note that a tool has shown the model; inclusive, from 1 in the file."""

    path: str
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a call returns: the text for the model, the notes it shows, the commits it made.

    `untrusted` names where the text comes from when that is not this vault's owner: the run is tainted by it.
    """

    text: str
    sources: tuple[Cited, ...] = ()
    commits: tuple[str, ...] = ()
    untrusted: str = ""


Perform: TypeAlias = Callable[[JsonObject, RunContext], ToolOutput]
"""Carries out a call, whose arguments have been checked against the schema.

Raises `ToolRetry` or `ToolFailed` with a text for the model, `StopRun` to end or pause the run; any other error is
shown to the model in plain words, too."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A note as it is and as a call would leave it; None: no note."""

    path: str
    before: bytes | None
    after: bytes | None


PlanDrafts: TypeAlias = Callable[[JsonObject, RunContext], tuple[Draft, ...]]
"""(arguments, context) to what a call would do to notes; changes nothing."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a tool that changes notes knows about a call without carrying it out.

    `paths`: the notes that would change, as far as the arguments tell. `plan`: what would become of them; raises what
    the call itself would raise. `done`: what a call of this run and id has done already, None for nothing.
    """

    paths: Callable[[JsonObject], tuple[str, ...]]
    plan: PlanDrafts
    done: Callable[[RunContext], ToolOutput | None]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `groups` are what policy speaks of (`fs`, `search`, `memory`, `web`, `exec`, `human`, `orchestration`).

    `readonly`: changes nothing and may run beside other calls. `egress`: what is in its arguments leaves the machine.
    `timeout` in seconds, 0 for none: a write is never left behind half-way, its time limits are the vault's.
    `result_limit` in characters of the text given to the model. `effect` for tools that change notes.
    """

    name: str
    description: str
    parameters: JsonObject
    perform: Perform
    groups: frozenset[str]
    readonly: bool = False
    egress: bool = False
    timeout: float = 30.0
    result_limit: int = 16_000
    effect: Effect | None = None

    @property
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""
        return ToolSpec(self.name, self.description, self.parameters)
