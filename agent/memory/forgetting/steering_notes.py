"""Notes that steer runs and that the agent wrote, such as lessons and skills, without a text that is to be forgotten.

A row of the lessons that says it goes, since a lesson without its words is none. In skills a mark stands in the lines
that the agent wrote; a person's lines stay. Who wrote a line is known from the history.
"""

from collections.abc import Callable, Iterator

from agent.memory.blame import person_lines
from agent.memory.forgetting.said_again import SaidAgain
from agent.vault.folders import LESSONS_NOTE, RULES, SKILLS, AgentFolder
from agent.vault.store import Vault


def is_steering(home: AgentFolder, path: str) -> bool:
    """True for the note of lessons, a rule of an earlier version, or a file of a skill."""
    return home.name_of(path) == LESSONS_NOTE or home.holds(path, RULES, SKILLS)


def agents_lines_without(
    vault: Vault, path: str, data: bytes, said: SaidAgain, followed: Callable[[str], str]
) -> bytes:
    """The note without the text in the lines of the agent's; `followed` is a person's row, with the new names of
    notes."""
    rows = data.decode("utf-8", "surrogateescape").split("\n")
    theirs = person_lines(vault, path, data)
    is_list = vault.home.name_of(path) == LESSONS_NOTE

    def kept() -> Iterator[str]:
        for row, is_theirs in zip(rows, theirs, strict=True):
            if is_theirs:
                yield followed(row)
            elif not (is_list and said.stands_in(row)):
                yield said.redacted(row)

    return "\n".join(kept()).encode("utf-8", "surrogateescape")
