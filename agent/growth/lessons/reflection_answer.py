"""A model's answer about a run, as the words of a reflection: a JSON array with an object for each part.

What is missing or unknown is named in `problems`, so that the model can be asked once more; a strategy with an unknown
grade has the lowest one. Asking is left to `reflecting`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.growth.lessons.reflection import ErrorKind, Grade, Reflection, Strategy
from agent.growth.lessons.reflection_notes import MOST_STRATEGIES, STRATEGY, plain_text
from agent.llm.messages import reply_items

_PARTS = frozenset(("result", "efficiency", "error", "strategy", "gap"))


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """A reflection with the model's words (None: the answer cannot be parsed), and what is wrong with them, in
    sentences for the model."""

    answer: Reflection | None
    problems: tuple[str, ...] = ()


def parse_answer(reply: str, placed: Reflection) -> ParsedAnswer:
    """The answer in a model's reply, as the words of a reflection that has its place."""
    try:
        items = [each for each in reply_items(reply) if each.get("part", "") in _PARTS]
    except ValueError as problem:
        return ParsedAnswer(None, (str(problem),))
    if not items:
        return ParsedAnswer(None, (f"no object has a part of {', '.join(sorted(_PARTS))}",))
    parts, problems = {each["part"]: each for each in reversed(items)}, list[str]()
    result, efficiency, error, gap = (_words(parts.get(name, {})) for name in ("result", "efficiency", "error", "gap"))
    answer = replace(
        placed,
        result=result,
        efficiency=efficiency,
        error=error,
        error_kind=_error_kind(parts["error"], problems) if error else None,  # models fill in a form to its end
        strategies=tuple(_strategies([each for each in items if each["part"] == "strategy"], problems)),
        gap=gap,
    )
    return ParsedAnswer(answer, tuple(problems))


def _words(item: Mapping[str, str], key: str = "text", most: int = 0) -> str:
    """A text of an object as a reflection has it; empty for a word that says that there is none."""
    words = item.get(key, "").strip()
    is_none = pattern("no_answer").fullmatch(words) is not None
    return "" if is_none else plain_text(words, most) if most else plain_text(words)


def _error_kind(item: Mapping[str, str], problems: list[str]) -> ErrorKind | None:
    kinds: tuple[ErrorKind, ...] = get_args(ErrorKind)
    found = next((each for each in kinds if each == item.get("kind", "").strip().casefold()), None)
    problems += [f"the kind of the error is one of {', '.join(kinds)}"] if found is None else []
    return found


def _strategies(items: Sequence[Mapping[str, str]], problems: list[str]) -> Iterator[Strategy]:
    if len(items) > MOST_STRATEGIES:
        problems.append(f"there are {len(items)} strategies: give the {MOST_STRATEGIES} best")
    for number, item in enumerate(items[:MOST_STRATEGIES], 1):
        if not (text := _words(item, most=STRATEGY)):
            problems.append(f"strategy {number} has no text")
            continue
        when = _words(item, "when", STRATEGY)
        confidence, severity = (_grade(item, number, key, problems) for key in ("confidence", "severity"))
        yield Strategy(
            text,
            "" if pattern("any_case").fullmatch(when.strip(" .。!！")) else when,
            _words(item, "effect", STRATEGY),
            confidence,
            severity,
            item.get("restricts", "").casefold() == "true",
        )


def _grade(item: Mapping[str, str], number: int, key: str, problems: list[str]) -> Grade:
    grades: tuple[Grade, ...] = get_args(Grade)
    found = next((each for each in grades if each == item.get(key, "").strip().casefold()), None)
    if found is None:
        problems.append(f"strategy {number}: {key} is one of {', '.join(grades)}")
    return found or "low"
