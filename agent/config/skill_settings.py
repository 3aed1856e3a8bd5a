"""The settings of skills: which are put before a model by themselves, how many, and what is learned.

`settings.Settings` takes this in beside the others.
"""

from dataclasses import dataclass
from typing import Annotated

from agent.config.values import Range


@dataclass(frozen=True, slots=True)
class SkillSettings:
    """Each automatic behaviour has its switch."""

    auto: bool
    """Put the skills that fit a task before the model. Default true; none that you have not reviewed."""

    learn: bool
    """Offer workflows that came back as skills, in notes in `approvals/`. Default true; none is used without your
    yes."""

    corrections: bool
    """Count your edit of what a run has written, within a day, as a correction of the skills it used. Default true."""

    most: Annotated[int, Range(0, 20, "skills")]
    """Skills put before a task at most. Default 3: more of them pull a model in different directions."""

    tokens: Annotated[int, Range(0, 100_000, "tokens")]
    """Tokens of all skills of a task together. Default 4,000; longer ones are cut at a heading."""
