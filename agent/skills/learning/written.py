"""The name, description, triggers and instructions of a skill that is to be learned, as a model writes them or, where
there is none, a person names them. Nothing is named by words that happen to recur.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import count
from typing import TypeAlias

from agent.errors import BadNote, UserError
from agent.markdown.note import Note
from agent.skills.learning.suggestion import Suggestion, plain_body
from agent.skills.reading.patterns import BadPattern, compile_pattern
from agent.skills.reading.skill_file import name_problem
from agent.texts import text

LONGEST_BODY = 12_000
"""The most characters of a body that a model wrote."""
_DESCRIPTION = 1_000
_MOST_TRIGGERS, _LONGEST_TRIGGER = 6, 40
_FENCE = re.compile(r"\A\s*```[a-z]*\n(.*)\n```\s*\Z", re.DOTALL)

WriteSkill: TypeAlias = Callable[[Suggestion], str]
"""Asks a model for a skill (`prompts/skill.md`); raises an `AgentError` on failure."""


def parse_written(suggestion: Suggestion, reply: str, taken: Collection[str]) -> Suggestion | None:
    """The suggestion with what a model wrote of it; None if that cannot be used. `taken` are names in use."""
    fence = _FENCE.match(reply)
    try:
        note = Note.parse((fence[1] if fence else reply).strip().encode() + b"\n")
    except (BadNote, UnicodeEncodeError):
        return None
    name, about = _name(note.string("name") or ""), " ".join((note.string("description") or "").split())
    body = note.body.strip()
    if not name or not about or len(about) > _DESCRIPTION or "\0" in reply or len(body) > LONGEST_BODY:
        return None
    named = replace(
        suggestion,
        name=free_name(name, taken),
        description=about,
        patterns=_patterns(suggestion, note.strings("triggers")),
    )
    return replace(named, body=body if any(tool in body for tool in suggestion.tools) else plain_body(named))


def named_by_person(suggestion: Suggestion, name: str, taken: Collection[str]) -> Suggestion:
    """The suggestion under the name that a person gives it, with the tasks in their own words as its description;
    raises `UserError` for a name that no skill can have."""
    if problem := name_problem(name) or ("it is taken" if name in taken else ""):
        raise UserError(
            "{name} cannot be the name of a skill: {problem}",
            hint="write it as packing-list, in small letters with hyphens",
            name=name,
            problem=problem,
        )
    language = suggestion.language
    tasks = text("skill_suggestion.semicolon", language).join(suggestion.conditions)
    steps = " → ".join(dict.fromkeys(suggestion.tools))
    named = replace(
        suggestion,
        name=name,
        description=text("skill_suggestion.about", language, tasks=tasks[:_DESCRIPTION], steps=steps),
    )
    return replace(named, body=plain_body(named))


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken."""
    return next(each for number in count(1) if (each := name if number == 1 else f"{name}-{number}") not in taken)


def _name(name: str) -> str:
    """A name as skills have it; empty if there is none in what was said."""
    name = re.sub(r"[\W_]+", "-", name.lower()).strip("-")[:48].strip("-")
    return "" if name_problem(name) else name


def _patterns(suggestion: Suggestion, triggers: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns for those triggers that stand in one of the tasks."""
    tasks = [" ".join(each.task.lower().split()) for each in suggestion.evidence]
    folded = (" ".join(each.lower().split()) for each in triggers)
    found = [each for each in dict.fromkeys(folded) if _is_trigger(each) and any(each in task for task in tasks)]
    patterns = (rf"\b{re.escape(each)}\b" if each.isascii() else re.escape(each) for each in found)
    return tuple(each for each in patterns if _is_usable(each))[:_MOST_TRIGGERS]


def _is_trigger(words: str) -> bool:
    return (3 if words.isascii() else 2) <= len(words) <= _LONGEST_TRIGGER


def _is_usable(pattern: str) -> bool:
    try:
        compile_pattern(pattern)
    except BadPattern:
        return False
    return True
