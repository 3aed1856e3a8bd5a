"""What a command shows of a run that has ended or waits, wherever it went on: in this process, or in the daemon."""

import sys
from collections.abc import Mapping
from typing import Any, Protocol

from agent.dataclass import dataclass
from agent.interfaces.cli.output import CheckFailed, CommandFailed, Output, ToldError, exit_codes
from agent.interfaces.cli.printing import show
from agent.loop.outcome import RunOutcome

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
    """The summary as JSON for another process; its failure is a `ToldError`."""
    told = summary.failure
    assert told is None or isinstance(told, ToldError)
    return {
        "answer": summary.answer,
        "outcome": summary.outcome.value,
        "session": summary.session,
        "waits_for": summary.waits_for,
        "below": summary.below,
        "report": summary.report,
        "failure": None if told is None else told_message(told),
    }


def parse_summary(message: Mapping[str, Any]) -> RunSummary:
    """The summary in a message; raises `ValueError`, `KeyError` or `TypeError` for any other."""
    told = message["failure"]
    answer, session, waits_for, below = (str(message[name]) for name in ("answer", "session", "waits_for", "below"))
    failure = None if told is None else parse_told(told)
    outcome, report = RunOutcome(message["outcome"]), dict(message["report"])
    return RunSummary(answer, outcome, session, waits_for, below, report, failure)


def told_message(told: ToldError) -> dict[str, object]:
    """The error as JSON for another process."""
    return {"name": told.name, "message": told.message, "hint": told.hint, "code": told.code}


def parse_told(message: Mapping[str, Any]) -> ToldError:
    """The error in a message; raises `ValueError`, `KeyError` or `TypeError` for any other."""
    name, words, hint = (str(message[each]) for each in ("name", "message", "hint"))
    return ToldError(name, words, hint, int(message["code"]))
