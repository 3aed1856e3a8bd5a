"""Which paths a batch of changes concerns."""

from collections.abc import Callable, Iterable

from agent.events.types import FilesChanged, NoteMoved
from agent.markdown.changes import NoteChange
from agent.vault.folders import AgentFolder
from agent.watch.classify import VaultEvent


def paths_of(event: VaultEvent) -> tuple[str, ...]:
    """The path of a change; for a move also where the note was."""
    return (event.path, event.source) if isinstance(event, NoteMoved) else (event.path,)


def paths_in(events: Iterable[VaultEvent], home: AgentFolder, *folders: str) -> tuple[str, ...]:
    """The paths of the changes that are in one of these folders, each once."""
    return tuple(dict.fromkeys(path for each in events for path in paths_of(each) if home.holds(path, *folders)))


def changes_in(home: AgentFolder, *folders: str) -> Callable[[FilesChanged[NoteChange]], tuple[str, ...]]:
    """A function that returns the paths of a batch that are in one of these folders."""
    return lambda event: paths_in(event.events, home, *folders)
