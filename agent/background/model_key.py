"""Watches for the key of the daemon's model: says at once that it is missing, and that it has come.

The settings are read again each time, so a key that is given while the daemon runs is found without a restart.
"""

import logging

from agent.background.part import Hears
from agent.background.routine import LookEvery, Routine
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.types import DaemonStarted
from agent.llm.model_key import MissingModelKey, missing_key
from agent.texts import Sentence, translated
from agent.workspace.workspace import Workspace, reload_settings

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class ModelKey:
    """The key of one vault's main model; `missing` is None while it is there, or none is needed."""

    workspace: Workspace
    missing: MissingModelKey | None = None

    @property
    def problem(self) -> str:
        """The missing thing and what helps, in one line; empty if nothing is missing."""
        if self.missing is None:
            return ""
        problem = Sentence("no model can be asked: {problem}", problem=reason_of(self.missing))
        return translated(problem, self.workspace.settings.vault.language)

    def start(self, _: DaemonStarted) -> None:
        """Say on the terminal what is missing, before anything that takes long."""
        self._compare()

    def routine(self) -> Routine:
        """A look now and then, more often while the key is missing: reading the settings takes some milliseconds."""
        return Routine(
            "model's key",
            lambda *_: self._compare(),
            hears=(Hears(DaemonStarted, self.start),),
            looks=(LookEvery(60.0), LookEvery(5.0, lambda: self.missing is not None)),
            needs_settled=False,
            priority=None,
            trouble=lambda: self.problem,
        )

    def _compare(self) -> None:
        """Look for the key, and say on the terminal what has changed."""
        before, self.missing = self.missing, self.look()
        if self.missing is not None and self.missing != before:
            logger.warning("%s", self.problem)
        elif before is not None and self.missing is None:
            logger.warning("the model's key is there now: what has waited for it is answered")

    def look(self) -> MissingModelKey | None:
        """The missing thing now; invalid settings are not this check's concern."""
        try:
            return missing_key(reload_settings(self.workspace).settings.llm)
        except AgentError:
            return None


def reason_of(missing: MissingModelKey) -> Sentence:
    """Why no model can be asked, and the command that gives a running daemon the key."""
    help_with = Sentence(
        "vault-agent config set {setting} --prompt (this daemon takes it up without a restart)", setting=missing.setting
    )
    return Sentence("{problem}; {fix}", problem=missing.why, fix=help_with)
