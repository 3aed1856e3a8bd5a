"""What was found out about an error while its run went on: the text that the run's model is given, and back from its
session's note, which alone keeps it."""

import re
from collections.abc import Iterator
from typing import cast, get_args

from agent.dataclass import dataclass
from agent.growth.reflections.reflection import ErrorKind, Grade, Strategy
from agent.llm.messages import Context
from agent.loop.records import Spoken
from agent.loop.session import Session
from agent.markdown.title import clipped

SOURCE = "reflection"
"""The source of the text, as the session's note names it."""
_HEAD = "A quick look at what just went wrong, so that you can go on better (an opinion; your person comes first):"
COMPLAINT = "the person is not content with the answer before: "
"""The beginning of the failure of which the person has told, about an earlier run."""
_LONGEST = 300
_KEPT = 600
_LINE = re.compile(r"^- (failed|why|now|answer)(?: \(([a-z]+)\))?: (.*)$")


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """One error: what `failure` it was, and `what` caused it, with strategies. `kept` is an answer that could not be
    read."""

    failure: str
    what: str = ""
    kind: ErrorKind | None = None
    strategies: tuple[Strategy, ...] = ()
    kept: str = ""


def error_text(record: ErrorRecord) -> str:
    """The record as text for the model of the run."""
    rows = [_HEAD, f"- failed: {_part(record.failure)}"]
    rows += [f"- why{f' ({record.kind})' if record.kind else ''}: {_part(record.what)}"] if record.what else []
    rows += [f"- now: {_strategy_text(each)}" for each in record.strategies]
    rows += [f"- answer: {_part(record.kept, _KEPT)}"] if record.kept else []
    return "\n".join(rows)


def errors_of(session: Session, run: str) -> tuple[ErrorRecord, ...]:
    """The records of a run, from its session."""
    spoken = (each.message for each in session.of_run(run) if isinstance(each, Spoken))
    texts = (each.text for each in spoken if isinstance(each, Context) and each.source == SOURCE)
    return tuple(_parsed(text) for text in texts if text.startswith(_HEAD))


def _parsed(text: str) -> ErrorRecord:
    found = [match for row in text.splitlines() if (match := _LINE.match(row))]
    said = {match[1]: match[3] for match in found}
    kind = next((match[2] for match in found if match[1] == "why"), None)
    return ErrorRecord(
        said.get("failed", ""),
        said.get("why", ""),
        cast(ErrorKind, kind) if kind in get_args(ErrorKind) else None,
        tuple(_strategies(match[3] for match in found if match[1] == "now")),
        said.get("answer", ""),
    )


def _strategy_text(strategy: Strategy) -> str:
    parts = [_part(strategy.text)]
    parts += [f"when: {_part(strategy.when)}"] if strategy.when else []
    parts += [f"effect: {_part(strategy.effect)}"] if strategy.effect else []
    parts += [f"confidence: {strategy.confidence}", f"severity: {strategy.severity}"]
    return " | ".join([*parts, *(["restricts"] if strategy.restricts else [])])


def _strategies(rows: Iterator[str]) -> Iterator[Strategy]:
    for row in rows:
        text, *parts = row.split(" | ")
        named = dict(part.split(": ", 1) for part in parts if ": " in part)
        confidence, severity = (_grade(named.get(name, "")) for name in ("confidence", "severity"))
        yield Strategy(text, named.get("when", ""), named.get("effect", ""), confidence, severity, "restricts" in parts)


def _grade(word: str) -> Grade:
    return cast(Grade, word) if word in get_args(Grade) else "low"


def _part(text: str, most: int = _LONGEST) -> str:
    return clipped(" ".join(text.replace("|", "/").split()), most)
