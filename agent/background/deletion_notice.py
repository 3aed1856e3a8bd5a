"""Says in today's note that a deletion of many notes waits for the person's yes: they may never look at a terminal."""

import logging

from agent.errors import AgentError
from agent.events.types import EditsStopped
from agent.memory import daily
from agent.texts import text
from agent.vault.change import Stamp
from agent.workspace.workspace import Workspace

_NAMED = 3

logger = logging.getLogger(__name__)


class DeletionNotice:
    """Writes the notices of one vault."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def stopped(self, event: EditsStopped) -> None:
        """Write what was stopped and how to say yes, unless today's note says so already."""
        language, now = self.workspace.settings.vault.language, self.workspace.clock.now()
        vault = self.workspace.vault
        path = vault.home.at(daily.path_of(now.date()))
        how = text("notices.deletion_yes", language)
        more = " …" if len(event.paths) > _NAMED else ""
        names = text("answers.comma", language).join(event.paths[:_NAMED]) + more
        lines = [text("notices.deletion_why", language, names=daily.inert(names)), how]
        said = daily.block(now, text("notices.deletion", language, count=len(event.paths)), lines)
        try:
            if how.encode() in (vault.read(path) or b""):
                return
            with vault.transaction("memory(daily): a deletion waits for a yes", Stamp("agent", tool="daily")) as day:
                day.append(path, said.encode(), daily.new_note(now.date()).encode())
        except AgentError as error:  # the terminal and `status` say it, too
            logger.warning("not written into %s: %s", path, error.message)
