"""Raises a notice when a remote has been out of step for a day: its person may never look at a terminal."""

from collections.abc import Callable

from agent.events.notices import NoticeRaised
from agent.memory import daily
from agent.texts import text, translated
from agent.vault.sync.state import SyncedRemote
from agent.workspace.workspace import Workspace

PRIORITY = 0.7
"""The priority: it can wait for a day, and has already."""


class SyncNotice:
    """Raises the notices of one vault by `publish`, once for each trouble of a remote."""

    def __init__(self, workspace: Workspace, publish: Callable[[object], object]) -> None:
        self.workspace, self.publish = workspace, publish
        self._told: set[tuple[str, str]] = set()

    def tell(self, remote: SyncedRemote) -> None:
        """Say what is wrong with a remote and how to see more, unless it was said already."""
        since = f"{remote.since:%Y-%m-%d %H:%M:%S}" if remote.since is not None else ""
        if (remote.name, since) in self._told:
            return
        self._told.add((remote.name, since))
        language = self.workspace.settings.vault.language
        title = text("notices.sync", language, name=daily.inert(remote.name))
        lines = daily.inert(translated(remote.trouble, language)), text("notices.sync_more", language)
        self.publish(NoticeRaised("sync_trouble", PRIORITY, title, lines, subject=f"{remote.name} {since}"))
