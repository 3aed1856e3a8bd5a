"""Notes that steer runs and that the agent wrote, such as rules and skills, without a text that is to be forgotten.

A rule that says it goes, since a rule without its words is none. Elsewhere a mark stands in the lines that the agent
wrote; a person's lines stay. Who wrote a line is known from the history.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias

from agent.markdown.note import Note
from agent.memory.blame import person_lines
from agent.memory.forgetting.said_again import SaidAgain
from agent.vault.folders import FOUND_METHODS, RULE_HISTORY, RULE_LOG, RULES, SKILLS, AgentFolder
from agent.vault.store import Vault

RuleFate: TypeAlias = Literal["stays", "goes", "is_persons"]
"""`is_persons`: the rule says it in the person's words."""


def is_rule(home: AgentFolder, path: str) -> bool:
    """True for a note that may hold a rule."""
    return home.holds(path, RULES) and not home.holds(path, RULE_HISTORY, RULE_LOG, FOUND_METHODS)


def is_steering(home: AgentFolder, path: str) -> bool:
    """True for a rule or a file of a skill."""
    return is_rule(home, path) or home.holds(path, SKILLS)


def rule_fate(vault: Vault, path: str, data: bytes, said: SaidAgain) -> RuleFate:
    """What becomes of a rule: it goes if the rule itself says the text, in words of the agent's."""
    note = Note.parse(data)
    rule = note.body.replace("\r\n", "\n").partition("\n## ")[0]
    case = note.string("when") or ""
    if not (said.stands_in(rule) or said.stands_in(case)):
        return "stays"
    theirs = person_lines(vault, path, data)
    rows = data.decode("utf-8", "surrogateescape").split("\n")
    is_persons = any(said.stands_in(row) for row, is_theirs in zip(rows, theirs, strict=True) if is_theirs)
    return "is_persons" if is_persons else "goes"


def agents_lines_without(
    vault: Vault, path: str, data: bytes, said: SaidAgain, followed: Callable[[str], str]
) -> bytes:
    """The note with a mark for the text in the lines of the agent's; `followed` is a person's row, with the new names
    of notes."""
    rows = data.decode("utf-8", "surrogateescape").split("\n")
    theirs = person_lines(vault, path, data)
    kept = (followed(row) if is_theirs else said.redacted(row) for row, is_theirs in zip(rows, theirs, strict=True))
    return "\n".join(kept).encode("utf-8", "surrogateescape")
