"""Update of the index before a search, if no daemon does it, and a second search after damage.

The reason why an index is behind is returned as text; the interfaces show it.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from agent.database.away import DatabaseAway, DatabaseFault
from agent.errors import LockHeld
from agent.index.files import WrittenElsewhere
from agent.lazy import later
from agent.prefetch import Prefetch
from agent.texts import Sentence
from agent.vault.listing import attachment_paths, contents, differing
from agent.workspace.index_status import has_exactly, indexed_hashes
from agent.workspace.workspace import Workspace, is_watched, load_daemon_state

if TYPE_CHECKING:
    from agent.workspace.attachments import hash_attachments, update_attachments
    from agent.workspace.search_index import SearchIndex, open_index, open_past_index
else:
    open_index = later("agent.workspace.search_index", "open_index")
    open_past_index = later("agent.workspace.search_index", "open_past_index")
    hash_attachments = later("agent.workspace.attachments", "hash_attachments")
    update_attachments = later("agent.workspace.attachments", "update_attachments")

T = TypeVar("T")
FEW = 200
"""Most changed notes that are indexed before a search; with more, an existing index is searched without them, and the
result says so."""
_SOME = 10
"""Changed attachments above which it is said that they are read: each takes some hundredths of a second."""
_A_MOMENT = 1.0
"""Seconds in which a daemon takes in what was just saved: nearly all of them are its wait for the next save."""
_STEP = 0.02


def prefetch_contents(workspace: Workspace) -> Prefetch[dict[str, str]] | None:
    """The result of `contents`, started now; None if a daemon runs, as it updates the index itself."""
    return None if is_watched(workspace) else Prefetch(lambda: contents(workspace.vault))


ShowIndexing: TypeAlias = Callable[[str], AbstractContextManager[Callable[[int, int], object]]]
"""Says what is done for as long as its block lasts, and gives what is told how many notes of how many are indexed."""


def ignore_count(done: int, of: int) -> None:
    """Do nothing; for where no progress is shown."""


def show_nothing(text: str) -> AbstractContextManager[Callable[[int, int], object]]:
    """Say nothing; for callers that show no progress."""
    return nullcontext(ignore_count)


def open_ahead(workspace: Workspace) -> "tuple[SearchIndex, Prefetch[dict[str, str]] | None]":
    """The index, loaded for a search, and the notes' content hashes, which git lists meanwhile.

    The hashes are None if a daemon runs.
    """
    notes = prefetch_contents(workspace)
    index = open_index(workspace)  # the import takes longer than git's answer
    index.warm()
    return index, notes


def open_past(workspace: Workspace, commit: str) -> "SearchIndex":
    """The index over the notes as they were in a commit (a full id)."""
    return open_past_index(workspace, commit)


def catch_up(
    workspace: Workspace,
    index: "SearchIndex",
    notes: Prefetch[dict[str, str]] | None = None,
    *,
    in_past: bool = False,
    show: ShowIndexing = show_nothing,
) -> str | None:
    """Update the index if no daemon does it, the notes first; returns why it is still behind, or which damage was
    repaired, None if it was only brought up to date.

    `notes` are the content hashes of all notes, if they were requested already.
    """
    daemon = None if in_past else _daemon_that_has_taken_in(workspace)
    if daemon is not None:
        changed = "the daemon was started with another model: start it again" if index.is_of_another_model else None
        return daemon_lag(daemon) or changed
    attached = None if in_past else Prefetch(lambda: attachment_paths(workspace.vault))
    try:
        late = _catch_up_notes(index, notes, in_past=in_past, show=show)
        return late if late is not None or attached is None else _catch_up_attachments(index, attached.result(), show)
    except (WrittenElsewhere, DatabaseAway, DatabaseFault) as error:
        return error.message
    except LockHeld:
        return "the index is being brought up to date by another process"


def _catch_up_attachments(index: "SearchIndex", paths: Sequence[str], show: ShowIndexing) -> str | None:
    """Take in the attachments that changed, if they are few; returns why the index is behind, None if it is not."""
    listed = hash_attachments(index.workspace, paths) if paths else {}
    if has_exactly(index.files, listed, attachments=True):
        return None
    outdated = len(differing(indexed_hashes(index.files, attachments=True), listed))
    if outdated > FEW:
        return Sentence("{count} files are not read yet: vault-agent index, or start the daemon", count=outdated)
    says = Sentence("reading {count} files …", count=outdated)
    index.updater.patience = 0.0
    with show(says) if outdated > _SOME else show_nothing(says) as progress:
        update_attachments(index, listed, progress=progress)
    return None


def _catch_up_notes(
    index: "SearchIndex", notes: Prefetch[dict[str, str]] | None, *, in_past: bool, show: ShowIndexing
) -> str | None:
    """The same for the notes."""
    listed = index.listed() if notes is None else notes.result()
    anew = index.is_of_another_model
    if index.has_exactly(listed) and not anew and not index.is_broken():
        return None
    met = index.files.damage_met()
    known = index.known()
    differs = differing(known, listed)
    outdated = len(differs)
    if known and outdated > FEW and not anew and not in_past:
        if index.files.is_being_written():
            return Sentence("{count} notes are not indexed yet: another process is at it", count=outdated)
        return Sentence("{count} changes are not indexed yet: vault-agent index, or start the daemon", count=outdated)
    says = ""
    if anew:
        says = Sentence("indexing {count} notes anew, since search uses another model now …", count=len(listed))
    elif outdated > FEW:
        says = Sentence("indexing {count} notes …", count=len(listed))
    index.updater.patience = 0.0  # a search never waits for the writer
    with show(says) if says else show_nothing(says) as index.updater.progress:
        if known and outdated <= FEW and not anew and not in_past and not index.is_broken():
            index.touch({path: listed.get(path) for path in differs})  # nobody lists 100,000 notes twice for one
        else:
            index.refresh()
    return Sentence("it is whole again after damage ({problem})", problem=met) if met else None


def search_whole(
    workspace: Workspace, index: "SearchIndex", search: Callable[[], T], late: str | None, *, in_past: bool = False
) -> tuple[T, str | None]:
    """The result of `search`, and the reason why the index is behind (`late`), None if it is up to date.

    After damage that no daemon repairs, the index is repaired and searched once more.
    """
    found = search()
    if not index.is_broken() or (not in_past and load_daemon_state(workspace) is not None):
        return found, late
    late = catch_up(workspace, index, in_past=in_past)
    return search(), late


def _daemon_that_has_taken_in(workspace: Workspace) -> Mapping[str, object] | None:
    """The daemon's state, None if none runs: after a moment for a few notes to be taken in, as what was just saved is
    often what is searched for."""
    clock = workspace.vault.clock
    until = clock.monotonic() + _A_MOMENT
    while (daemon := load_daemon_state(workspace)) is not None and clock.monotonic() < until:
        waiting = daemon.get("waiting")
        if daemon.get("index") or not isinstance(waiting, int) or not 0 < waiting <= FEW:
            break
        clock.sleep(_STEP)
    return daemon


def daemon_lag(daemon: Mapping[str, object]) -> str | None:
    """The reason why the index is behind, from the daemon's state; None if it is up to date."""
    if daemon.get("starting"):
        return "the daemon has just started: what changed while it was away may be missing"
    if daemon.get("index"):
        return Sentence("the daemon cannot update the index: {problem}", problem=daemon["index"])
    return (
        Sentence("changes that the daemon has yet to take in: {count}", count=daemon["waiting"])
        if daemon.get("waiting")
        else None
    )
