"""Small talk: greetings, thanks, a yes, "go on". Nothing that is remembered belongs to it.

The phrases are data (`configs/understanding.yaml`) and say nothing by themselves: a word that a task may be about
("morning", 天气) stands there in a phrase.
"""

import re
from functools import cache

from agent.memory.understanding.vocabulary import characters, pattern

_LONGEST = 300
"""Characters from which on a text is about something, and would cost too much to look through."""
_LETTER = re.compile(r"\w")
_BREAK = re.compile(r"[\s,，、。.!！?？;；:：~～…]+")


def is_small_talk(task: str) -> bool:
    """True for a task that is small talk and nothing else."""
    return bool(task.strip()) and not _LETTER.search(without_phrases(task))


def without_phrases(task: str) -> str:
    """The task without its small talk; of Chinese only whole clauses are left out. Long tasks stay as they are."""
    if len(task) > _LONGEST:
        return task
    text = _phrases().sub(" ", " ".join(task.replace("’", "'").split()))
    return " ".join(part for part in _BREAK.split(text) if part and not _is_small_talk(part))


@cache
def _phrases() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'’])(?:{pattern('small_talk').pattern})(?![\w'’-])", re.IGNORECASE)


@cache
def _clause() -> re.Pattern[str]:
    endings = f"[{''.join(sorted(characters('small_talk_endings')))}]*"
    return re.compile(f"{endings}(?:{pattern('small_talk_clauses').pattern}){endings}")


def _is_small_talk(clause: str) -> bool:
    """True for a clause of such phrases alone; each is taken as it comes, so no way of cutting is tried twice."""
    at = 0
    while at < len(clause) and (found := _clause().match(clause, at)):
        at = found.end()
    return at == len(clause)
