"""What an interrupted run is remembered by: its person's messages, as it may never be resumed.

The decision about what is worth keeping is left to `agent.memory`.
"""

import logging

from agent.errors import AgentError
from agent.events.bus import ignore_event
from agent.events.runs import Speaker, TaskCompleted
from agent.loop.records import Began
from agent.loop.session import Session
from agent.memory.capture.writer import CaptureWorker, EntryWriter
from agent.runs.run_trace import run_trace
from agent.runs.waiting_statements import rule_capture
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


def keep_words(workspace: Workspace, session: Session, run: str) -> None:
    """Save a person's messages to an interrupted run, as it may never be resumed. Logs errors and does not raise."""
    began = next((each for each in session.of_run(run) if isinstance(each, Began)), None)
    if began is None or began.job or workspace.settings.memory.capture == "off":
        return
    vault = workspace.vault
    keeper = EntryWriter(vault, lambda entry: ())
    capturing = CaptureWorker(
        keeper, rule_capture(workspace), lambda path, run: run_trace(vault, path, run), ignore_event
    )
    speaker = Speaker(began.channel, began.sender, began.group)
    try:
        capturing.capture(TaskCompleted(run, session.path, began.task, speaker, "interrupted", "", (), 0.0, 0))
    except (AgentError, OSError) as error:
        logger.warning("%s: what was said in it is not remembered: %s", session.path, error)
