"""The kinds of text that a task asks for: a preference for one kind says nothing about another. Pure."""

from pathlib import PurePosixPath
from typing import Literal, TypeAlias, get_args

from agent.config.resources import pattern
from agent.vault.folders import DAILY, INBOX, RESEARCH

TaskKind: TypeAlias = Literal["answer", "letter", "report", "plan", "code", "note"]
TASK_KINDS: tuple[TaskKind, ...] = get_args(TaskKind)
_NAMED: tuple[TaskKind, ...] = ("letter", "code", "report", "plan", "note")
"""The kinds that have words of their own, in the order in which they are looked for."""
_OF_FOLDER: dict[str, TaskKind] = {RESEARCH: "report", INBOX: "answer", DAILY: "note"}


def named_kinds(text: str) -> frozenset[TaskKind]:
    """The kinds of text that a sentence names, such as reports and mails; empty for none."""
    return frozenset(kind for kind in _NAMED if pattern(f"task_{kind}").search(text))


def kind_of_task(task: str) -> TaskKind:
    """The kind of text that a task asks for; an answer, if its words name no other."""
    return next((kind for kind in _NAMED if pattern(f"task_{kind}").search(task)), "answer")


def kind_of_note(name: str) -> TaskKind:
    """The kind of text in a note, by its name as the table of folders has it."""
    for path, kind in _OF_FOLDER.items():
        if name.startswith(path):
            return kind
    words = PurePosixPath(name).stem.replace("-", " ").replace("_", " ")
    return next((kind for kind in _NAMED if pattern(f"task_{kind}").search(words)), "note")
