"""Keeps the vault in order when nothing else goes on: asks about what arrived, settles offers, takes in opinions of
skills, learns, tends memory, and packs the history: one routine for each job of the upkeep, one after the other. Once a
day there is the evening: the day in a few lines, and one commit of what nobody has asked for."""

from collections.abc import Callable
from typing import Any

from agent.background.pool import Pool
from agent.background.routine import PATIENCE, LookEvery, On, QuietOn, Routine, changes_in, paths_in
from agent.events.runs import TaskCompleted
from agent.events.types import DaemonStarted, EditsCommitted, FilesChanged, Origin
from agent.markdown.changes import NoteChange
from agent.runs.evening import Evening
from agent.runs.upkeep_jobs import UpkeepJobs
from agent.vault.folders import APPROVALS, QUESTIONS, SESSIONS, SKILLS

KEY = "maintenance"
QUIET = 2.0
"""Seconds without a change before anything is begun."""
LISTEN = 20.0
"""Seconds between two looks for conversations that have fallen silent."""

Batch = FilesChanged[NoteChange]


def maintenance_routines(jobs: UpkeepJobs, pool: Pool) -> tuple[Routine, ...]:
    """The maintenance of one vault. A job that fails is tried again with the next change of any file."""
    home = jobs.workspace.vault.home

    def is_nothing_else() -> bool:
        return {*pool.state.running, *pool.state.waiting} <= {KEY}

    def upkeep(name: str, work: Callable[[], object], *on: On[Any], looks: tuple[LookEvery, ...] = ()) -> Routine:
        return Routine(
            name,
            lambda wanted, cancelled: work(),  # one commit or nothing, so that it is not stopped in between
            on=(*on, QuietOn(FilesChanged, lambda event: True)),
            looks=looks,
            quiet=QUIET,
            retry=300.0,
            names_problem=True,
            may_begin=is_nothing_else,
            key=KEY,
            patience=PATIENCE,
        )

    def skills_edited(event: EditsCommitted) -> tuple[str, ...]:
        return jobs.skills_edited(event.commit, event.paths)

    def skills_changed(event: Batch) -> tuple[str, ...]:
        return jobs.skills_changed(paths_in(event.events, home, SKILLS))

    def by_others(folder: str) -> Callable[[Batch], tuple[str, ...]]:
        return lambda event: paths_in((each for each in event.events if each.origin is not Origin.OWN), home, folder)

    def arrived(event: Batch) -> tuple[str, ...]:
        return tuple(each.path for each in event.events if each.origin is Origin.ARRIVED) + decided(event)

    decided = by_others(APPROVALS)
    start: On[DaemonStarted] = On(DaemonStarted, lambda event: ("start",))  # something was done while nobody watched
    edits: On[EditsCommitted] = On(EditsCommitted, lambda event: (event.commit,))  # they may be opinions
    run: On[TaskCompleted] = On(TaskCompleted, lambda event: () if event.job else (event.run,))
    return (
        upkeep("arrivals", jobs.arrivals, start, On(FilesChanged, arrived)),
        upkeep("reviews", jobs.reviews, start, On(FilesChanged, skills_changed), On(EditsCommitted, skills_edited)),
        upkeep("offers", jobs.offers, start, On(FilesChanged, decided)),
        upkeep("opinions", jobs.opinions, start, On(FilesChanged, by_others(SESSIONS)), edits, run),
        upkeep("profile", jobs.profile, On(FilesChanged, changes_in(home, QUESTIONS))),
        upkeep(
            "learning", jobs.learn, On(TaskCompleted, lambda event: (event.run,) if jobs.may_learn_from(event) else ())
        ),
        upkeep("conversations", jobs.conversations, looks=(LookEvery(LISTEN, jobs.has_silent_conversations),)),
        upkeep("packing", jobs.pack, looks=(LookEvery(900.0, jobs.is_packing_due),)),
        upkeep("upkeep", jobs.upkeep, On(FilesChanged, lambda event: ("files",))),
    )


def evening_routine(evening: Evening) -> Routine:
    """The evenings of one vault's daemon."""
    return Routine(
        "evening",
        lambda *_: evening.keep(),  # short: one call of a model, and a commit
        looks=(LookEvery(60.0, evening.is_due),),
        retry=300.0,
        reports_retryable=False,
        key=KEY,
        patience=PATIENCE,
    )
