"""The work on lessons in the background: what the person did with them, what their uses say, and what is learned anew.

It learns from reflections only when some have changed: that compares many texts, and may ask a model.
"""

import logging
from collections.abc import Callable, Iterator

from agent.background.routine import PATIENCE, On, Routine, changes_in, paths_in
from agent.events.runs import ProposalDecided, TaskCompleted
from agent.events.types import DaemonStarted, EditsCommitted, FilesChanged, Origin
from agent.growth.lessons.lesson_work import LessonWork
from agent.growth.lessons.tend import follow_lessons, tend_lessons
from agent.llm.messages import Cancelled
from agent.markdown.changes import NoteChange
from agent.runs.status import is_of_growth
from agent.vault.folders import LESSONS_NOTE, REFLECTIONS, RULES, SESSIONS
from agent.workspace.workspace import Workspace, reload_settings

_LEARN, _FOLLOW = "learn", "follow"
"""What it is wanted for: to learn from reflections and follow the lessons, or only to follow them."""

logger = logging.getLogger(__name__)


def lesson_routine(workspace: Workspace, open_work: Callable[[], LessonWork]) -> Routine:
    """The lessons of one vault's daemon; `open_work` gives what the work needs now."""
    home = workspace.vault.home
    reflected = changes_in(home, REFLECTIONS)

    def changed(event: FilesChanged[NoteChange]) -> Iterator[str]:
        """New reflections; lessons by hand, or boxes in the notes of runs."""
        if reflected(event):
            yield _LEARN
        if paths_in(
            (each for each in event.events if each.origin is not Origin.OWN), home, LESSONS_NOTE, RULES, SESSIONS
        ):
            yield _FOLLOW

    def work(wanted: dict[str, None], _: Cancelled) -> None:
        if reload_settings(workspace).settings.growth.enabled:
            lessons = open_work()
            for row in tend_lessons(lessons) if _LEARN in wanted else follow_lessons(lessons):
                logger.info("lesson %s: %s (%s)", row.words, row.event, row.why)

    return Routine(
        "lessons",
        work,
        on=(
            On(DaemonStarted, lambda event: (_LEARN,)),
            On(FilesChanged, changed),
            On(EditsCommitted, lambda event: (_FOLLOW,)),  # they may be corrections of what runs wrote
            On(ProposalDecided, lambda event: (_LEARN,) if event.kind == "rule" else ()),  # the next may be asked
            On(TaskCompleted, lambda event: () if is_of_growth(event.job) else (_FOLLOW,)),
        ),
        quiet=5.0,
        retry=600.0,
        patience=PATIENCE,
    )


def variant_routine(propose: Callable[[Cancelled], object]) -> Routine:
    """Tries variants of skills that work well, once the person has been silent for a while after a run: `propose` does
    the work. It asks a model, so that it stops when the daemon does, and is begun again after the next run."""
    return Routine(
        "variants of skills",
        lambda _, cancelled: propose(cancelled),
        on=(On(TaskCompleted, lambda event: () if event.job else ("a run of a person's",)),),
        quiet=600.0,  # later than what reflects on the run
        pause=3_600.0,  # a day of many runs needs few looks
        key="experiments",
    )
