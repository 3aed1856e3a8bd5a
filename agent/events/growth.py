"""Events of what the agent has noticed by itself, as frozen values: plain data, so that every layer can import them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PatternDetected:
    """A pattern was found that was not known before. `pattern` is its id, `kind` that of its detector, `frequency` the
    number of its cases."""

    pattern: str
    kind: str
    name: str
    confidence: float
    frequency: int


@dataclass(frozen=True, slots=True)
class InitiativeTaken:
    """Something was suggested to the person after a run: `type` is goal_alignment, drive_nudge or pattern_suggestion,
    `drive_ref` the goal, the drive or the pattern that it serves."""

    type: str
    confidence: float
    drive_ref: str
