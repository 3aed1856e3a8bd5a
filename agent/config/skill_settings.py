"""The settings of skills: automatic use, limits and learning. Part of `settings.Settings`."""

from typing import Annotated

from agent.config.values import Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SkillSettings:
    """Settings of skills; each automatic behaviour has a switch."""

    auto: bool
    """Name the skills that may fit a task to the model, and give it those that the task names. Default true; only
    skills that you have reviewed."""

    learn: bool
    """Suggest repeated workflows as skills, in notes in `approvals/`. Default true; none is used without your
    approval."""

    corrections: bool
    """Count your edit of a run's text within a day as a correction of the skills that it used. Default true."""

    most: Annotated[int, Range(0, 20, "skills")]
    """The maximum of skills named to the model for a task. Default 3."""

    tokens: Annotated[int, Range(0, 100_000, "tokens")]
    """The maximum of tokens of the skills that a task names together. Default 4,000, and never more than a quarter of
    what the model takes at once. A skill is given whole; one that does not fit is named to the model."""

    index: bool
    """List the other skills for the model in one line each, so that it can open one that its task did not select.
    Default true. The list has a room of its own, 3 % of what the model takes at once, beside `tokens`."""
