"""The settings of skills: automatic use, limits and learning. Part of `settings.Settings`."""

from typing import Annotated

from agent.config.values import Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SkillSettings:
    """Settings of skills; each automatic behaviour has a switch."""

    auto: bool
    """Add the skills that match a task to the model's prompt. Default true; only skills that you have reviewed."""

    learn: bool
    """Suggest repeated workflows as skills, in notes in `approvals/`. Default true; none is used without your
    approval."""

    corrections: bool
    """Count your edit of a run's text within a day as a correction of the skills that it used. Default true."""

    most: Annotated[int, Range(0, 20, "skills")]
    """The maximum of skills added to a task's prompt. Default 3: more of them give a model conflicting instructions."""

    tokens: Annotated[int, Range(0, 100_000, "tokens")]
    """The maximum of tokens of the skills of a task together. Default 4,000, and never more than a quarter of what the
    model takes at once. A skill is given whole; of one that does not fit, the name, the description and how to open
    it."""

    index: bool
    """List the other skills for the model in one line each, so that it can open one that its task did not select.
    Default true. The list has a room of its own, 3 % of what the model takes at once, beside `tokens`."""
