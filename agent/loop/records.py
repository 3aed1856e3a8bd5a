"""What a session records: the begin of a run, messages, tools, untrusted text, summaries, limits, and the end of a run.

Their form in the session's note is left to `record_format` and `record_parse`.
"""

from dataclasses import field
from datetime import date, datetime
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.llm.messages import Message, Usage


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
class PromptParts:
    """What a system message was built of: the day, the language, and the notes (path, id of the content). `sha256` is
    that of the message."""

    sha256: str
    day: date
    language: str
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message. `usage` is that of the model call that returned it, `seconds` the duration of the tool call that it is
    the result of (None: not known, as in older notes). For people: `line` is a tool's call and result in one line,
    `remark` are receipts or commits.

    `given` are the lines that the message consists of, `built` the parts of a system message: the note has these
    instead of the message's text.
    """

    message: Message
    usage: Usage | None = None
    remark: str = ""
    given: tuple[PinnedLines, ...] = ()
    built: PromptParts | None = None
    line: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ToolsChosen:
    """The tools that are described to the model from here on, in this order."""

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


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """An event with its time.

    `line` is the line of the session's note on which its text begins, 0 if it was not read from the note.
    """

    at: datetime
    event: RecordedEvent
    line: int = field(default=0, compare=False)
