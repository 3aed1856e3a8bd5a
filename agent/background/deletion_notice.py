"""Raises a notice when a deletion of many notes waits for the person's yes: they may never look at a terminal."""

from collections.abc import Callable

from agent.events.notices import NoticeRaised
from agent.events.types import EditsStopped
from agent.memory import daily
from agent.texts import text
from agent.workspace.workspace import Workspace

PRIORITY = 0.9
"""The priority: until the person decides, nothing that they write is recorded."""
_NAMED = 3


class DeletionNotice:
    """Raises the notices of one vault, by `publish`."""

    def __init__(self, workspace: Workspace, publish: Callable[[object], object]) -> None:
        self.workspace, self.publish = workspace, publish

    def stopped(self, event: EditsStopped) -> None:
        """Say what was stopped and how to say yes."""
        language = self.workspace.settings.vault.language
        more = " …" if len(event.paths) > _NAMED else ""
        names = text("answers.comma", language).join(event.paths[:_NAMED]) + more
        lines = text("notices.deletion_why", language, names=daily.inert(names)), text("notices.deletion_yes", language)
        title = text("notices.deletion", language, count=len(event.paths))
        self.publish(NoticeRaised("deletion", PRIORITY, title, lines, subject="edits"))
