"""Builds the work on the lessons of one vault, for the daemon, for runs, and for a person's command."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module

from agent.asking.answers import answered_proposals
from agent.events.bus import Bus, ignore_event
from agent.events.runs import TaskCompleted
from agent.growth.lessons.lesson_work import KnownSkill, LessonWork, no_vectors
from agent.growth.lessons.reflection_notes import load_reflections
from agent.growth.lessons.tend import follow_lessons
from agent.growth.patterns.likeness import Vectors
from agent.runs.skill_lookup import skills_on_demand
from agent.runs.skill_set import SkillSet
from agent.skills.variants.trial_shelf import open_trials
from agent.workspace.workspace import Workspace, is_watched


def lesson_work(
    workspace: Workspace,
    vectors: Callable[[], Vectors | None] = no_vectors,
    tell: Callable[[object], object] = ignore_event,
) -> LessonWork:
    """The work on a vault's lessons."""
    return LessonWork(
        workspace.vault,
        workspace.settings.vault.language,
        partial(load_reflections, workspace.vault),
        lambda: tuple(_known_skills(workspace)),
        vectors,
        workspace.settings.growth.rules.probation_uses,
        workspace.settings.skills.corrections,
        tell=tell,
    )


def follow_lessons_after_run(workspace: Workspace, bus: Bus, event: TaskCompleted) -> None:
    """Take in, after a run that a person asked for, what follows for the lessons; where a daemon runs, it does so."""
    if workspace.settings.growth.enabled and not event.job and not is_watched(workspace):
        follow_lessons(lesson_work(workspace, tell=bus.publish_async))


def _known_skills(workspace: Workspace) -> Iterator[KnownSkill]:
    """The skills that may be used."""
    for skill in skills_on_demand(workspace).library.snapshot().candidates:
        if skill.reviewed:
            yield KnownSkill(skill.name, f"{skill.summary}\n{skill.body}")


def settle_trials(skills: SkillSet) -> None:
    """Settle the trials of one vault; loads what that needs only if there is one. Raises what a transaction raises."""
    vault = skills.workspace.vault
    if any(open_trials(vault)) or any(answered_proposals(vault, "mutation")):
        import_module("agent.growth.lessons.variants").Variants(skills).settle()
