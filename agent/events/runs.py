"""What happens in conversations and runs, as frozen values: plain data, so that every floor can read them.

A run is one task from its start to its outcome; a session is a conversation, kept in one note, and may hold many.
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who speaks, and through what; a group chat has many senders in one session."""

    channel: str
    sender: str = ""
    group: bool = False


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A new session note was begun at `session`."""

    session: str
    speaker: Speaker


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """A session is closed or has gone stale; `reason` says which."""

    session: str
    reason: str


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A run begins; what handlers inject is put before the model. `task` is what was asked."""

    run: str
    session: str
    task: str
    speaker: Speaker


@dataclass(frozen=True, slots=True)
class IterationStarted:
    """Step `number` (from 1) of a run begins; `tools` were used in it so far, in order."""

    run: str
    session: str
    number: int
    task: str
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCompleted:
    """A tool did what it was asked; `characters` is the size of what it gave."""

    run: str
    session: str
    call: str
    tool: str
    seconds: float
    characters: int


@dataclass(frozen=True, slots=True)
class ToolCallFailed:
    """A tool did not; `error` is what the model was told."""

    run: str
    session: str
    call: str
    tool: str
    seconds: float
    error: str


@dataclass(frozen=True, slots=True)
class TaskCompleted:
    """A run has ended or paused. `outcome` is one of `loop.outcome`'s words; what was said is in the session's note.

    The tokens are those of all calls of a model in the run, 0 where that is not known; `at` is when it was over, None
    where nobody has said.
    """

    run: str
    session: str
    task: str
    speaker: Speaker
    outcome: str
    answer: str
    tools: tuple[str, ...]
    seconds: float
    steps: int
    input_tokens: int = 0
    output_tokens: int = 0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation as plain data. `role`: user, assistant, tool or context; `tools`: those it asks
    for, or the one whose result it is."""

    role: str
    text: str
    tools: tuple[str, ...] = ()
    sender: str = ""


@dataclass(frozen=True, slots=True)
class ContextCompact:
    """These messages are about to be replaced by a summary: last chance to keep what matters.

    `untrusted` names the sources of text in the conversation that is not the owner's.
    """

    run: str
    session: str
    speaker: Speaker
    messages: tuple[Said, ...]
    untrusted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryFlushed:
    """Before a compaction so many entries were `saved`; `known` said nothing new, or were more than one flush keeps."""

    run: str
    session: str
    saved: int
    known: int


@dataclass(frozen=True, slots=True)
class MemoryRecalled:
    """So many memories were put before a task; `mode` is how they were found, `degraded` why not better."""

    run: str
    session: str
    found: int
    mode: str
    degraded: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ContextRefreshed:
    """At step `number` of a run so many memories were added to what the model has before it."""

    run: str
    session: str
    number: int
    found: int


@dataclass(frozen=True, slots=True)
class MemoryCaptured:
    """After a run so many entries were `saved`, `merged` into others, or `known` already; some of those saved say
    otherwise than earlier ones (`contradicting`). `problem` says why nothing could be kept."""

    run: str
    session: str
    saved: int
    merged: int = 0
    known: int = 0
    contradicting: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SkillActivated:
    """A skill was put before the model of a run; `score` from 0 to 1 is how well it fits."""

    run: str
    session: str
    skill: str
    score: float


@dataclass(frozen=True, slots=True)
class SkillOpened:
    """The model of a run has read a skill of itself."""

    run: str
    session: str
    skill: str


@dataclass(frozen=True, slots=True)
class ChainStarted:
    """A skill that is a workflow of several was put before the model of a run."""

    run: str
    session: str
    skill: str


@dataclass(frozen=True, slots=True)
class ChainCompleted:
    """A run that followed a workflow of several skills has ended; `outcome` is the run's."""

    run: str
    session: str
    skill: str
    outcome: str


@dataclass(frozen=True, slots=True)
class SkillRated:
    """Somebody said of a skill what it was worth, in words or by deed; `opinion` is one of `skills.usage`'s words."""

    skill: str
    run: str
    opinion: str


@dataclass(frozen=True, slots=True)
class SkillSuggested:
    """A workflow that came back is offered as a skill, in the note at `path`."""

    skill: str
    path: str
