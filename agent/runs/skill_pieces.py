"""The texts of skills for the tasks of a run, as a source, with their receipts."""

from collections.abc import Callable, Sequence

from agent.context.source import Piece, Receipt
from agent.dataclass import dataclass
from agent.markdown.title import clipped
from agent.skills.matching.selection import Match

_PATTERN = 60
"""Characters of a signal in a receipt: a pattern may be long; `skills match --explain` shows it whole."""


@dataclass(frozen=True, slots=True)
class SkillTexts:
    """A source of texts about skills for the tasks of one run; `ask` returns them for a task and a number of tokens."""

    name: str
    ask: Callable[[str, int], Sequence[Piece]]

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """The texts for a task, best first."""
        return self.ask(task, room)


def receipt_of(found: Match) -> Receipt:
    """The lines of the skill, or of its variant, that a text was made of, and why."""
    skill = found.skill
    parts = [f"{signal.type} {clipped(str(signal.detail), _PATTERN)}" for signal in found.signals]
    weighed = {str(signal.detail) for signal in found.signals}
    parts += [each for name, value in found.slots if (each := f"{name}={value}") not in weighed]
    parts += [f"opened on request: {', '.join(found.on_request)}"] if found.on_request else []
    lines = (skill.body_line, skill.body_line + skill.body.count("\n"))
    return Receipt(skill.path, lines, None, found.score, ", ".join(parts))
