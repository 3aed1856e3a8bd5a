"""Keeps the vault in order when nothing else goes on: asks about what arrived, settles offers, takes in opinions of
skills, learns, tends memory, and packs the history: one routine for each job of the upkeep, one after the other.

The evening, once a day: the day in a few lines, and one commit of what nobody has asked for.

Keeps the texts of attachments in the search index: beside the daemon, so that no note waits for a long PDF.

It has an index of its own over the same files, as another process would: the few files that it takes in at a time are
written between two updates of the notes.

Which paths a batch of changes concerns.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any

from agent.attachments.cache import is_attachment
from agent.background.pool import Pool, Priority
from agent.background.routine import PATIENCE, LookEvery, On, QuietOn, Routine
from agent.events.runs import TaskCompleted
from agent.events.types import DaemonStarted, EditsCommitted, FilesChanged, IndexUpdated, NoteMoved, Origin
from agent.llm.messages import Cancelled
from agent.markdown.changes import NoteChange
from agent.runs.evening import Evening
from agent.runs.upkeep_jobs import UpkeepJobs
from agent.vault.folders import APPROVALS, QUESTIONS, SESSIONS, SKILLS, AgentFolder
from agent.watch.classify import VaultEvent
from agent.workspace.attachments import list_attachments, update_attachments
from agent.workspace.search_index import SearchIndex, open_index
from agent.workspace.workspace import Workspace


def paths_of(event: VaultEvent) -> tuple[str, ...]:
    """The path of a change; for a move also where the note was."""
    return (event.path, event.source) if isinstance(event, NoteMoved) else (event.path,)


def paths_in(events: Iterable[VaultEvent], home: AgentFolder, *folders: str) -> tuple[str, ...]:
    """The paths of the changes that are in one of these folders, each once."""
    return tuple(dict.fromkeys(path for each in events for path in paths_of(each) if home.holds(path, *folders)))


def changes_in(home: AgentFolder, *folders: str) -> Callable[[FilesChanged[NoteChange]], tuple[str, ...]]:
    """A function that returns the paths of a batch that are in one of these folders."""
    return lambda event: paths_in(event.events, home, *folders)


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
        is_retryable_told=False,
        key=KEY,
        patience=PATIENCE,
    )


_LOOK = 600.0
"""Seconds between two looks at all attachments: for what no event names, as when other files are ignored."""
_QUIET = 1.0
"""Seconds without a change before a file is read: programs write a large one in pieces."""
_RETRY = 10.0
_MOST, _PAUSE = 30.0, 10.0
"""Seconds after which the reading of many files pauses, and how long: upkeep waits for it."""
_MORE = "more"


def attachments_routine(workspace: Workspace, index: SearchIndex, publish: Callable[[object], object]) -> Routine:
    """The attachments of one vault's daemon, which has brought `index` up to the notes; `publish` is told how many were
    taken in."""

    clock, left = workspace.vault.clock, set[str]()

    def take_in(_: dict[str, None], cancelled: Cancelled) -> None:
        listed, until = list_attachments(workspace), clock.monotonic() + _MOST
        with closing(open_index(workspace, chosen=index.chosen)) as own:
            done = update_attachments(own, listed, lambda: cancelled() or clock.monotonic() > until)
        (left.add if done.left else left.discard)(_MORE)
        if done.indexed or done.forgotten:
            publish(IndexUpdated(done.indexed, done.forgotten, 0))

    return Routine(
        "attachments",
        take_in,
        on=(On(DaemonStarted, lambda event: ("start",)), On(FilesChanged, _attached)),
        looks=(LookEvery(_LOOK), LookEvery(_PAUSE, lambda: bool(left), _MORE)),
        quiet=_QUIET,
        retry=_RETRY,
        is_retryable_told=False,
        needs_settled=False,
        names_problem=True,
        priority=Priority.NETWORK,  # nearly all of it is waiting for another process
    )


def _attached(event: FilesChanged[NoteChange]) -> Iterator[str]:
    return (path for each in event.events for path in paths_of(each) if is_attachment(path))
