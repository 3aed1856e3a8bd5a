"""Says in today's note that a remote has been out of step for a day: its person may never look at a terminal."""

import logging

from agent.errors import AgentError
from agent.memory import daily
from agent.texts import text, translated
from agent.vault.change import Stamp
from agent.vault.sync.state import SyncedRemote
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


class SyncNotice:
    """Writes the notices of one vault, once for each trouble of a remote."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._told: set[tuple[str, str]] = set()

    def tell(self, remote: SyncedRemote) -> None:
        """Write what is wrong with a remote and how to see more, unless it was written already."""
        key = remote.name, f"{remote.since:%Y-%m-%d %H:%M:%S}" if remote.since is not None else ""
        if key in self._told:
            return
        self._told.add(key)
        language, now = self.workspace.settings.vault.language, self.workspace.clock.now()
        vault = self.workspace.vault
        path = vault.home.at(daily.path_of(now.date()))
        title = text("notices.sync", language, name=daily.inert(remote.name))
        why = daily.inert(translated(remote.trouble, language))
        said = daily.block(now, title, [why, text("notices.sync_more", language)])
        try:
            if title.encode() in (vault.read(path) or b""):
                return
            with vault.transaction("memory(daily): a remote is out of step", Stamp("agent", tool="daily")) as day:
                day.append(path, said.encode(), daily.new_note(now.date()).encode())
        except AgentError as error:  # `status` says it, too
            logger.warning("not written into %s: %s", path, error.message)
