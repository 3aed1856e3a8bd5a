"""What a run is asked to do, and what a session records of it: begin, messages, tools, foreign text, summaries."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from datetime import datetime
from typing import TypeAlias

from agent.context.anchor import ANCHOR
from agent.context.prompt import GROUP_TALK, MOMENT, Audience, audience_of
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.events.receipt import MEMORIES
from agent.events.runs import NO_ORIGIN, ChatOrigin, Speaker
from agent.json_value import parse_json
from agent.llm.messages import Assistant, Context, Message, System, ToolResult, Usage
from agent.llm.presets import ModelKind
from agent.loop.session_names import digest
from agent.tools.tool import RunContext

_KEPT = frozenset((MEMORIES, MOMENT, ANCHOR, GROUP_TALK))
_SHORT = 300
"""The most characters of a text beside the talk that stand in the session's note."""
ASKS_A_PERSON = "human_ask"
"""The tool whose result is what a person answered, so part of the talk."""
QUOTED = "quoted"
"""The mark of a text that quotes notes, before it has its hash: it is kept, however short it is."""


@dataclass(frozen=True, slots=True)
class Began:
    """The begin of a run with this task; `sender` asked through `channel`, possibly in a `group`, and is `owner` or
    `guest`; `origin` is the place in that channel. `job`, `purpose`, `writes`, `spend` and
    `model` are those of `RunRequest`."""

    run: str
    task: str
    channel: str
    sender: str = ""
    group: bool = False
    role: str = "owner"
    job: str = ""
    purpose: str = ""
    writes: tuple[str, ...] | None = None
    spend: float | None = None
    origin: ChatOrigin = NO_ORIGIN
    model: ModelKind = "main"

    @property
    def speaker(self) -> Speaker:
        """Who asked."""
        return Speaker(self.channel, self.sender, self.group, self.origin)

    def sees(self, other: "Began") -> bool:
        """True if the person of this run has seen the messages of another person's run: in a group, or as the owner."""
        return other.group or self.role == "owner"


@dataclass(frozen=True, slots=True)
class PinnedLines:
    """Lines of a note (inclusive, from 1). `pin` is the id of a commit that has the note as it was, or of its content
    if no commit had it; empty if neither is known."""

    path: str
    lines: tuple[int, int]
    pin: str


@dataclass(frozen=True, slots=True)
class StoredArgument:
    """An argument of a call whose value, as JSON, is kept on the machine under this hash."""

    call: str
    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message. `usage` is that of the model call that returned it, `seconds` the duration of the tool call that it is
    the result of (None: not known, as in older notes). For people: `line` is a tool's call and result in one line,
    `remark` are receipts or commits.

    `pinned` are the lines of notes that the message consists of. `digest` is the hash of a text that is kept on the
    machine (`session_names`), and for which the note has this mark only; `arguments` are those of calls that are kept
    so. `audience` is who a system message is for.
    """

    message: Message
    usage: Usage | None = None
    remark: str = ""
    pinned: tuple[PinnedLines, ...] = ()
    digest: str = ""
    audience: str = ""
    line: str = ""
    seconds: float | None = None
    arguments: tuple[StoredArgument, ...] = ()


def is_stored_apart(message: Message) -> bool:
    """True for a message whose text is kept on the machine: the note, which reads as a talk, has a mark for it."""
    match message:
        case System():
            return True
        case Context(text, source):
            return source in _KEPT or len(text) > _SHORT
        case ToolResult(name=name, text=text):
            return len(text) > _SHORT and name != ASKS_A_PERSON
        case _:
            return False


def stored_values(message: Message) -> Iterator[tuple[StoredArgument, str]]:
    """The arguments of a message's calls that are too long or too odd for a mark, each with its value as JSON."""
    for call in message.calls if isinstance(message, Assistant) else ():
        for name, value in call.arguments.items():
            text = json.dumps(value, ensure_ascii=False)
            if len(text) > _SHORT or not _is_plain(text):
                yield StoredArgument(call.id, name, digest(text)), text


def _is_plain(text: str) -> bool:
    """True for JSON that a mark can hold: no odd numbers, not nested deeply."""
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ToolsChosen:
    """The tools and actions of tools that are described to the model from here on, after those before."""

    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tainted:
    """The run has read untrusted text from `source`."""

    source: str


@dataclass(frozen=True, slots=True)
class Summarised:
    """All messages before this record, except the system message and the last `remaining`, are replaced by `text`."""

    text: str
    remaining: int


@dataclass(frozen=True, slots=True)
class AtLimit:
    """A limit ended the run: only a conclusion and the end follow, also when the run is resumed."""

    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Closed:
    """The end or pause of a run; `remark` is for people."""

    run: str
    outcome: str
    reason: str = ""
    remark: str = ""


RecordedEvent: TypeAlias = Began | Spoken | ToolsChosen | Tainted | Summarised | AtLimit | Closed


def chosen_tools(events: Iterable[RecordedEvent], role: str) -> tuple[str, ...]:
    """The tools that are described in the runs of a session for people of this role, in their order; empty before the
    first one."""
    found, asking = dict[str, None](), ""
    for event in events:
        if isinstance(event, Began):
            asking = event.role
        elif isinstance(event, ToolsChosen) and asking == role:
            found |= dict.fromkeys(event.tools)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """An event with its time.

    `line` is the line of the session's note on which its text begins, 0 if it was not read from the note.
    """

    at: datetime
    event: RecordedEvent
    line: int = field(default=0, compare=False)


_JOB = re.compile(r"[\w.@/-]{1,100}")
"""A job's id as a commit's trailer can have it (`Vault-Actor: job:ID`)."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A task, its speaker, and the job it belongs to; `role` is `owner` or `guest`.

    What follows holds for its sub-runs too, and when it is resumed. `purpose` gives the run the tools that exist only
    for it (`Tool.only_for`). `writes` are the beginnings of the paths in the vault that its tools may change, such as
    `research/` or `tasks/garden.md`; None: wherever the policy and the rules of the folders allow. `spend` is what all
    runs of its job together may cost on one day, in US dollars; None: no limit of its own. `model` is the kind of work
    whose model the person wants for this. `place` says in words where
    the answer of a job goes; it is not recorded, since the model is told once.

    Raises `UserError` for a guest without a name, since the guest's words would be stored as the owner's, and for a
    job's id that a commit cannot name.
    """

    task: str
    speaker: Speaker
    role: str = "owner"
    job: str = ""
    purpose: str = ""
    writes: tuple[str, ...] | None = None
    spend: float | None = None
    model: ModelKind = "main"
    place: str = "the note of this conversation"

    def __post_init__(self) -> None:
        if self.role != "owner" and not self.speaker.sender:
            raise UserError(
                "somebody asks through {channel} who is not you and has no name",
                hint="have the channel say who sends each message",
                channel=self.speaker.channel,
            )
        if self.job and not _JOB.fullmatch(self.job):
            raise UserError(
                "{job!r} is no id of a job", hint="letters, digits and . _ - @ / are, at most 100", job=self.job
            )

    @property
    def audience(self) -> Audience:
        """The audience of the run, which says what its model is given."""
        return audience_of(self.role, group=self.speaker.group)

    @property
    def work(self) -> ModelKind:
        """The kind of work, which may have a model of its own: a planned task has a purpose."""
        return "tasks" if self.purpose else "jobs" if self.job else self.model

    @classmethod
    def of(cls, began: Began) -> "RunRequest":
        """The request with which a run began."""
        details = (began.role, began.job, began.purpose, began.writes, began.spend, began.model)
        return cls(began.task, began.speaker, *details)

    @classmethod
    def delegated(cls, task: str, by: RunContext) -> "RunRequest":
        """The request with which the run of this context gives a part of its task to a sub-run."""
        details = (by.role, by.job, by.purpose, by.writes, by.spend, by.model)
        return cls(task, Speaker(by.channel, by.sender, origin=by.origin), *details)

    def began(self, run: str) -> Began:
        """The record of the begin of a run with this request."""
        channel, sender, group = self.speaker.channel, self.speaker.sender, self.speaker.group
        details = (self.role, self.job, self.purpose, self.writes, self.spend)
        return Began(run, self.task, channel, sender, group, *details, self.speaker.origin, self.model)

    def context(self, run: str, session: str) -> RunContext:
        """The context of a run with this request, in the session at this path."""
        return RunContext(
            run,
            session,
            channel=self.speaker.channel,
            role=self.role,
            sender=self.speaker.sender,
            asked="" if self.job or "." in run else self.task,
            job=self.job,
            purpose=self.purpose,
            writes=self.writes,
            spend=self.spend,
            model=self.model,
            origin=self.speaker.origin,
        )


def sources_in(records: Iterable[SessionRecord]) -> tuple[str, ...]:
    """The sources of untrusted text that these records name."""
    return tuple(dict.fromkeys(each.event.source for each in records if isinstance(each.event, Tainted)))


def new_taints(records: Iterable[SessionRecord], sources: Iterable[str]) -> tuple[Tainted, ...]:
    """The events for those of these sources that no record names."""
    known = sources_in(records)
    return tuple(Tainted(each) for each in sources if each not in known)
