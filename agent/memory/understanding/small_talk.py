"""Detection of small talk: greetings, thanks, a yes, "go on". No memories are recalled for it.

The phrases are data (`configs/understanding.yaml`). A word that a task may be about ("morning", 天气) is listed only
inside a phrase.
"""

import re
from functools import cache

from agent.config.vocabulary import characters, pattern

_LONGEST = 300
"""Characters from which a text is never small talk, and would be slow to scan."""
_LETTER = re.compile(r"\w")
_BREAK = re.compile(r"[\s,，、。.!！?？;；:：~～…]+")


def is_small_talk(task: str) -> bool:
    """True for a task that is only small talk."""
    return bool(task.strip()) and not _LETTER.search(without_phrases(task))


def without_phrases(task: str) -> str:
    """The task without its small talk; in Chinese only whole clauses are removed. Long tasks are unchanged."""
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
    """True for a clause made only of such phrases; matched from left to right without backtracking."""
    at = 0
    while at < len(clause) and (found := _clause().match(clause, at)):
        at = found.end()
    return at == len(clause)
