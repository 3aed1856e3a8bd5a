"""What a session records: the begin of a run, messages, tools, untrusted text, summaries, limits, and the end of a run.

Their form in the session's note is left to `record_format` and `record_parse`.
"""

from collections.abc import Iterable
from dataclasses import field
from datetime import datetime
from typing import TypeAlias

from agent.context.anchor import ANCHOR
from agent.context.prompt import MOMENT
from agent.dataclass import dataclass
from agent.events.receipt import MEMORIES
from agent.llm.messages import Context, Message, System, Usage

_KEPT = frozenset((MEMORIES, MOMENT, ANCHOR))


@dataclass(frozen=True, slots=True)
class Began:
    """The begin of a run with this task; `sender` asked through `channel`, possibly in a `group`, and is `owner` or
    `guest`; `job`, `purpose`, `writes` and `spend` are as in `loop.request`."""

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


@dataclass(frozen=True, slots=True)
class PinnedLines:
    """Lines of a note (inclusive, from 1). `pin` is the id of a commit that has the note as it was, or of its content
    if no commit had it; empty if neither is known."""

    path: str
    lines: tuple[int, int]
    pin: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message. `usage` is that of the model call that returned it, `seconds` the duration of the tool call that it is
    the result of (None: not known, as in older notes). For people: `line` is a tool's call and result in one line,
    `remark` are receipts or commits.

    `given` are the lines of notes that the message consists of. `digest` is the hash of a text that is kept on the
    machine (`kept_texts`), and for which the note has this mark only; `audience` is who a system message is for.
    """

    message: Message
    usage: Usage | None = None
    remark: str = ""
    given: tuple[PinnedLines, ...] = ()
    digest: str = ""
    audience: str = ""
    line: str = ""
    seconds: float | None = None


def is_kept(message: Message) -> bool:
    """True for a message whose text is kept on the machine: the note, which reads as a talk, has a mark for it."""
    return isinstance(message, System) or (isinstance(message, Context) and message.source in _KEPT)


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
    """All messages before this record, except the system message and the last `kept`, are replaced by `text`."""

    text: str
    kept: int


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
