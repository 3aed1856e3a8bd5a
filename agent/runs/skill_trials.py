"""The versions of skills that runs take while a variant is on trial: odd uses the skill as it is, even ones the
variant.

A use keeps its version: in the whole session, so that no model sees two versions, in the runs that it delegates to, and
after a crash, since the session's note has the text that was given. What a use took stands in the skill's history; uses
in runs that have read text by others, and in runs of jobs, stand there without it, and so judge nothing.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.runs.skill_set import SkillSet
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
        """What the row of a use says of its trial; empty outside of a trial."""
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
