"""What the daemon and a command send each other about a run: the request, the events of the answer, and the summary of
a run that has ended or waits, wherever it went on.

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

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, get_args

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
from agent.interfaces.cli.output import CheckFailed, CommandFailed, Output, RelayedError, exit_codes
from agent.interfaces.cli.printing import show
from agent.json_value import parse_json
from agent.loop.outcome import RunOutcome

if TYPE_CHECKING:
    from agent.runs.decisions import PersonDecision

EXIT_CODES = exit_codes("a limit stopped the run: its answer is not whole")
"""The closing lines in the help of a command that reports a run."""


class AnsweredRun(Protocol):
    """What comes of a run."""

    @property
    def answer(self) -> str: ...

    @property
    def outcome(self) -> RunOutcome: ...

    @property
    def session(self) -> str: ...

    @property
    def waits_for(self) -> str: ...


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run that has ended or waits: `below` are the lines for the person below the answer, `report` is the document
    for `--json`, and `failure` why it failed, None if it did not."""

    answer: str
    outcome: RunOutcome
    session: str
    waits_for: str
    below: str
    report: Mapping[str, object]
    failure: Exception | None = None


def show_summary(output: Output, summary: RunSummary) -> None:
    """Print the answer and what is below it; raises `CommandFailed` for a run that failed, and `CheckFailed` for one
    that a limit stopped.

    What is quoted in place of an answer is printed as one; the exit code says that the model failed, since a script has
    to know that nobody has answered it.
    """
    if summary.failure is not None:
        if summary.report.get("quoted") and not output.json and not sys.stdout.isatty():
            show(summary.answer)
        output.note(summary.below)
        raise CommandFailed(summary.failure, summary.report)
    is_terminal = sys.stdout.isatty()
    output.emit(summary.report, "" if is_terminal else summary.answer)
    output.note(f"\n{summary.below}" if is_terminal else summary.below)
    check_whole(summary)


def check_whole(*runs: AnsweredRun) -> None:
    """Raise `CheckFailed` if a limit stopped one of the runs, repetition included; call it when all is printed.

    A script that asks has to know that the answer is not whole. A run that waits for its person, or was stopped by
    them, is as they want it: it can be resumed, and exits with 0.
    """
    if any(each.outcome is RunOutcome.LIMIT for each in runs):
        raise CheckFailed


def as_message(summary: RunSummary) -> dict[str, object]:
    """The summary as JSON for another process; its failure is a `RelayedError`."""
    sentence = summary.failure
    assert sentence is None or isinstance(sentence, RelayedError)
    return {
        "answer": summary.answer,
        "outcome": summary.outcome.value,
        "session": summary.session,
        "waits_for": summary.waits_for,
        "below": summary.below,
        "report": summary.report,
        "failure": None if sentence is None else error_message(sentence),
    }


def parse_summary(message: Mapping[str, Any]) -> RunSummary:
    """The summary in a message; raises `ValueError`, `KeyError` or `TypeError` for any other."""
    sentence = message["failure"]
    answer, session, waits_for, below = (str(message[name]) for name in ("answer", "session", "waits_for", "below"))
    failure = None if sentence is None else parse_error(sentence)
    outcome, report = RunOutcome(message["outcome"]), dict(message["report"])
    return RunSummary(answer, outcome, session, waits_for, below, report, failure)


def error_message(error: RelayedError) -> dict[str, object]:
    """The error as JSON for another process."""
    return {"name": error.name, "message": error.message, "hint": error.hint, "code": error.code}


def parse_error(message: Mapping[str, Any]) -> RelayedError:
    """The error in a message; raises `ValueError`, `KeyError` or `TypeError` for any other."""
    name, words, hint = (str(message[each]) for each in ("name", "message", "hint"))
    return RelayedError(name, words, hint, int(message["code"]))


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
    given: "PersonDecision | None" = None
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
