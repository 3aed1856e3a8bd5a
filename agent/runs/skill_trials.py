"""The skills in a run's request: their texts with receipts, and the versions that a trial takes."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from agent.context.source import Piece, Receipt
from agent.dataclass import dataclass
from agent.markdown.title import clipped
from agent.runs.skill_set import SkillSet
from agent.skills.matching.skill_text import Match
from agent.skills.reading.skill import Skill
from agent.skills.variants.trial_shelf import RunningTrial
from agent.skills.variants.variant import Arm, next_arm, trial_label


@dataclass(slots=True)
class SkillTrials:
    """The versions that the runs of one vault take. May be used by several threads."""

    skills: SkillSet
    _taken: dict[tuple[str, str], Arm] = field(default_factory=dict)
    """The version that a run (without its sub-runs) has taken of a skill."""
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def versions(self, run: str, before: Sequence[str] = ()) -> Mapping[str, Skill]:
        """The variants, by the names of their skills, that a run is given in place of them; `before` are the texts of
        skills that its model has already."""
        with self._lock:
            return {
                name: trial.variant
                for name, trial in self._trials().items()
                if trial.variant is not None and self._arm(run, name, trial, before) == "variant"
            }

    def version(self, skill: Skill, run: str, before: Sequence[str] = ()) -> Skill:
        """The skill as a run is given it."""
        return self.versions(run, before).get(skill.name, skill)

    def take(self, run: str, skill: Skill) -> None:
        """Note that a run was given this version of a skill."""
        with self._lock:
            trial = self._trials().get(skill.name)
            if trial is not None and run:
                self._taken.setdefault((_root(run), skill.name), _arm_of(trial, skill))

    def take_again(self, run: str, name: str, before: Sequence[str]) -> None:
        """Note the version of a skill that a run was given before it stopped, by the texts in its session."""
        with self._lock:
            trial = self._trials().get(name)
            if trial is not None:
                self._taken.setdefault((_root(run), name), self._arm(run, name, trial, before))

    def label(self, run: str, name: str) -> str:
        """The trial that the row of a use names; empty outside of a trial."""
        with self._lock:
            trial, arm = self._trials().get(name), self._taken.get((_root(run), name))
            return trial_label(trial.record.number, arm) if trial is not None and arm is not None else ""

    def over(self, run: str) -> None:
        """Drop what is known of a finished run."""
        with self._lock:
            self._taken = {key: arm for key, arm in self._taken.items() if key[0] != _root(run)}

    def _trials(self) -> Mapping[str, RunningTrial]:
        growth = self.skills.workspace.settings.growth
        return self.skills.trials.trials() if growth.enabled and growth.mutations.mode != "off" else {}

    def _arm(self, run: str, name: str, trial: RunningTrial, before: Sequence[str]) -> Arm:
        if trial.variant is None:
            return "kept"
        known = self._taken.get((_root(run), name))
        if known is not None:
            return known
        for skill in (trial.variant, trial.skill):
            if skill.body and any(skill.body in each for each in before):
                return _arm_of(trial, skill)
        going_on = sum(taken == name and other != _root(run) for other, taken in self._taken)
        return next_arm(self.skills.history.trial_uses(name, trial.record.number) + going_on)


def _arm_of(trial: RunningTrial, skill: Skill) -> Arm:
    if trial.variant is None:
        return "kept"
    return "variant" if skill.body == trial.variant.body else "original"


def _root(run: str) -> str:
    return run.partition(".")[0]


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
