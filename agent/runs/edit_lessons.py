"""Learning from the person's edits in one vault: when the settings ask for it, and without text by others."""

import logging

from agent.errors import AgentError
from agent.memory.edits.learn import Learned, learn_from_edits
from agent.runs.profile_upkeep import profile_writing
from agent.tools.text_origin import text_origin_of
from agent.vault.change import Outcome
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


def learn_lessons(workspace: Workspace, job: str = "") -> tuple[Learned, Outcome]:
    """Write down what the person's edits of the last days say, at most once a day; nothing if that has to wait."""
    if not workspace.settings.memory.learn_from_edits:
        return Learned(), Outcome()
    origin = text_origin_of(workspace.vault)
    try:
        writing = profile_writing(workspace)
        return learn_from_edits(writing, lambda path, data: bool(origin.source(path, data)), job=job)
    except AgentError as error:
        logger.warning("learning from edits has to wait: %s", error.message)
        return Learned(), Outcome()
