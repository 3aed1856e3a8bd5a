"""What the daemon and a command say to each other about a run: the request, and the events of the answer.

An event is a name and a JSON object. An event of a run has the name of its class and its fields; the others are:

| event | object |
|---|---|
| `begun` | `run`, by which it is stopped, and the `language` of the vault |
| `started` | the path of its `session` |
| `model` | the `name` of the model that is asked, empty for none |
| `text` | `text`, a piece of the answer |
| `note` | `text`, a remark for the person |
| `ended` | a `RunSummary` |
| `failed` | an error before there was one |
| `closed` | the run's memories are written; `news`: there is something to tell of skills |
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from agent.dataclass import dataclass
from agent.events.runs import (
    IterationStarted,
    ModelRetry,
    PlanChanged,
    Speaker,
    ToolCallFailed,
    ToolCallStarted,
    ToolCompleted,
)
from agent.json_value import parse_json

if TYPE_CHECKING:
    from agent.runs.decisions import GivenDecision


SILENT = "{session} has been silent for too long and is over; this is a new session"
"""What is said of a session in which nobody goes on."""


@dataclass(frozen=True, slots=True)
class RunTask:
    """A new task of a speaker, in the session at the path `session` (empty: in a new one); or the run in the session
    `resume`, which was cut off or waits, once the decision `given` is recorded. `role` is `owner` or `guest`.

    `untrusted` names the source of text in the task that is not the speaker's own, empty if there is none.
    `patience` is how many seconds the process may take to end that is still in the session.
    """

    task: str
    speaker: Speaker
    role: str
    session: str = ""
    resume: str = ""
    given: "GivenDecision | None" = None
    patience: float = 0.0
    untrusted: str = ""

    @property
    def is_owners(self) -> bool:
        """True for a task of the owner's, who is told beside the answer what is new."""
        return self.role == "owner"


RUN_PATH = "/api/v1/command/run"
RunEvent: TypeAlias = IterationStarted | ModelRetry | PlanChanged | ToolCallStarted | ToolCompleted | ToolCallFailed
_EVENTS: Mapping[str, type[RunEvent]] = {each.__name__: each for each in get_args(RunEvent)}


def event_message(event: RunEvent) -> tuple[str, dict[str, object]]:
    """The name and the object of an event."""
    return type(event).__name__, asdict(event)


def parse_event(name: str, message: Mapping[str, Any]) -> RunEvent:
    """The event of this name; raises `LookupError` if there is none, and `TypeError` for other fields than it has."""
    return _EVENTS[name](**message)


def task_message(task: RunTask) -> dict[str, object]:
    """The task as the request has it."""
    return {
        "task": task.task,
        "channel": task.speaker.channel,
        "sender": task.speaker.sender,
        "group": task.speaker.group,
        "role": task.role,
        "session": task.session,
        "resume": task.resume,
        "untrusted": task.untrusted,
        "given": None if task.given is None else asdict(task.given),
    }


def parse_stream(lines: Iterable[bytes]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The events in the lines of a `text/event-stream`; raises `ValueError` for a line that is none of it."""
    name = ""
    for line in lines:
        key, _, value = line.decode().rstrip("\r\n").partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            found = parse_json(value)
            yield name, found if isinstance(found, dict) else {}
