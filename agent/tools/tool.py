"""A tool: a name, a schema and a function; with the context and the output of a call.

Wrappers (`wrappers`, `approvals`, `taint`) take a tool and return a tool.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, TypeAlias

from agent.dataclass import dataclass
from agent.events.runs import NO_ORIGIN, ChatOrigin
from agent.llm.messages import Cancelled, ImagePart, JsonObject, never
from agent.tools.seen_notes import SeenNotes
from agent.vault.change import actor_of

if TYPE_CHECKING:
    from agent.llm.presets import ModelKind


@dataclass(slots=True)
class Taint:
    """The sources of untrusted text (web, mail, others' notes, another program) that a run has read; false if empty.

    A taint stays until the run ends. `loop` makes one for each run and stores it with the session; `keep` is told all
    sources at each text that is read, for a taint that outlives its run.
    """

    sources: list[str] = field(default_factory=list)
    keep: Callable[[Sequence[str]], object] = field(default=lambda sources: None, compare=False, repr=False)

    def __bool__(self) -> bool:
        return bool(self.sources)

    def mark(self, *sources: str) -> None:
        """Record that text from these sources has been read."""
        for source in sources:
            if source not in self.sources:
                self.sources.append(source)
            self.keep(self.sources)


ATTENDED = frozenset({"cli", "acp", "inbox"})
"""The channels on which only the owner of the vault asks, on this machine."""


def ignore_progress(line: str) -> None:
    """Nothing: nobody waits for the call."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """The run of a call: the asker, the channel, and the call's own id.

    `role` is `owner` for the vault's owner, else `guest`. `session` is the session note's path. `seen` are the lines
    shown to the model; it starts empty in a sub-run and after a restart. `described` are the tools that the model is
    told of. `resumed`: this call was requested before the run stopped, and may have been performed. `asked` is the
    person's message that began the run; empty for a job and in a sub-run. `job` is the job that the run belongs to,
    empty if a person asked for it; `purpose`, `writes`, `spend` and `model` are as in `loop.records`, and `origin` as
    in `Speaker`. `asks_only`: the call is not performed; if it needs a yes that nobody was asked for, the person is
    asked, and the output is the path of the note. `progress` is told what a long call does, in a line, for who waits
    for it.
    """

    run: str
    session: str
    call: str = ""
    channel: str = "cli"
    role: str = "owner"
    sender: str = ""
    taint: Taint = field(default_factory=Taint)
    cancelled: Cancelled = never
    seen: SeenNotes = field(default_factory=SeenNotes)
    described: set[str] = field(default_factory=set, compare=False)
    resumed: bool = False
    asked: str = ""
    job: str = ""
    purpose: str = ""
    writes: tuple[str, ...] | None = None
    spend: float | None = None
    model: "ModelKind" = "main"
    asks_only: bool = False
    origin: ChatOrigin = NO_ORIGIN
    progress: Callable[[str], object] = ignore_progress

    @property
    def actor(self) -> str:
        """Who acts, as a commit names it."""
        return actor_of(self.job, self.channel)

    @property
    def is_attended(self) -> bool:
        """True if the owner has asked for this run and nothing from elsewhere was read in it."""
        return self.role == "owner" and not self.job and self.channel in ATTENDED and not self.taint

    def at(self, call: str) -> "RunContext":
        """The context of the call with this id, in the same run."""
        return replace(self, call=call)


@dataclass(frozen=True, slots=True)
class Cited:
    """Lines of a note that a tool has shown the model; inclusive, from 1 in the file."""

    path: str
    lines: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The output of a call: the text for the model, the notes in it, whether the call has changed notes.

    `untrusted` names the source of text that the vault's owner did not write: it taints the run. `is_framed`: the tool
    has framed that text itself, and the rest is the owner's. `tools` are names of tools to describe to the model from
    the next step on, `images` pictures for a model that sees. `forgotten` takes a text that the person wanted to be
    forgotten out of any other.
    """

    text: str
    sources: tuple[Cited, ...] = ()
    is_changed: bool = False
    untrusted: str = ""
    is_framed: bool = False
    tools: tuple[str, ...] = ()
    images: tuple[ImagePart, ...] = ()
    forgotten: Callable[[str], str] | None = None


Perform: TypeAlias = Callable[[JsonObject, RunContext], ToolOutput]
"""Performs a call with arguments already checked against the schema.

Raises `ToolRetry` or `ToolFailed` with a text for the model, `StopRun` to end or pause the run; any other error is also
shown to the model as text.
"""


@dataclass(frozen=True, slots=True)
class Draft:
    """A note before and after a call; None: no note."""

    path: str
    before: bytes | None
    after: bytes | None


PlanDrafts: TypeAlias = Callable[[JsonObject, RunContext], tuple[Draft, ...]]
"""Function from (arguments, context) to the drafts of a call; changes nothing."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a call on notes, computed without performing it.

    `paths`: the notes that would change, according to the arguments. `plan`: the resulting drafts; raises what the call
    itself would raise. `done`: the output of an earlier call with this run and id, None if there was none.
    """

    paths: Callable[[JsonObject], tuple[str, ...]]
    plan: PlanDrafts
    done: Callable[[RunContext], ToolOutput | None]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, or one action of a tool with several, which has both names: `jobs.add`.

    `groups` are the names used in a policy (`policy.GROUPS`). `readonly`: changes nothing and may run beside other
    calls. `parallel`: may run beside other calls of itself, though it changes something. `egress`: its arguments leave
    the machine. `timeout` in seconds, 0 for none: a write is never abandoned half-way, its time limits are the vault's.
    `result_limit` in characters of the text given to the model. `effect` for tools that change notes. `only_for` are
    the purposes (`RunContext.purpose`) for which the tool exists; in other runs there is none of its name. Empty: for
    every run.
    `on_request`: what steers the agent may be changed by it without another yes, if the run `is_attended`.
    `dangerous`: a person approves each call, whatever the policy allows. `asks_first` stands for the tool as it is now,
    and a person approves its first call on this machine; empty: none has to. `seldom`: few tasks need it, so it is
    described only once `tool_search` has found it.
    """

    name: str
    description: str
    parameters: JsonObject
    perform: Perform
    groups: frozenset[str]
    readonly: bool = False
    parallel: bool = False
    egress: bool = False
    timeout: float = 30.0
    result_limit: int = 16_000
    effect: Effect | None = None
    only_for: frozenset[str] = frozenset()
    on_request: bool = False
    dangerous: bool = False
    asks_first: str = ""
    seldom: bool = False
