"""Keeps the texts of attachments in the search index: beside the daemon, so that no note waits for a long PDF.

It has an index of its own over the same files, as another process would: the few files that it takes in at a time are
written between two updates of the notes.
"""

from collections.abc import Callable, Iterator
from contextlib import closing

from agent.attachments.cache import is_attachment
from agent.background.pool import Priority
from agent.background.routine import LookEvery, On, Routine, paths_of
from agent.events.types import DaemonStarted, FilesChanged, IndexUpdated
from agent.llm.messages import Cancelled
from agent.markdown.changes import NoteChange
from agent.workspace.attachments import list_attachments, update_attachments
from agent.workspace.search_index import SearchIndex, open_index
from agent.workspace.workspace import Workspace

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
        reports_retryable=False,
        needs_settled=False,
        names_problem=True,
        priority=Priority.NETWORK,  # nearly all of it is waiting for another process
    )


def _attached(event: FilesChanged[NoteChange]) -> Iterator[str]:
    return (path for each in event.events for path in paths_of(each) if is_attachment(path))
