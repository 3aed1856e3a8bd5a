"""Memory writes of runs in one vault: entries, flushes, and the messages of interrupted runs.

The decision about what is worth keeping is left to `agent.memory`.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from agent.context.prompt import fill
from agent.errors import AgentError, SecretFound
from agent.events.bus import ignore_event
from agent.events.runs import Speaker, TaskCompleted
from agent.llm.messages import Request, User
from agent.loop.records import Began
from agent.loop.session import Session
from agent.memory.capture.dedupe import Thresholds
from agent.memory.capture.run_entries import CaptureConfig
from agent.memory.capture.writer import CaptureWorker, EntryWriter
from agent.memory.entry import MODEL, Entry, EntryType
from agent.runs.accounts import Accounts
from agent.runs.recall_source import RecallSource
from agent.runs.run_trace import run_trace
from agent.runs.understanding import understanding_of
from agent.runs.waiting_statements import rule_capture
from agent.texts import text
from agent.tools.tool import RunContext
from agent.vault.change import Stamp
from agent.workspace.workspace import Workspace

_SUMMARY_TOKENS = 256
logger = logging.getLogger(__name__)


def entry_writer(workspace: Workspace, searches: RecallSource, models: Accounts) -> EntryWriter:
    """The writer of new entries, which compares them with known ones by the vault's settings."""
    settings = workspace.settings.memory
    return EntryWriter(
        workspace.vault,
        searches.near,
        Thresholds(settings.dedupe, settings.chat_merge),
        understanding_of(workspace, models),
    )


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


def save_flushed(keeper: EntryWriter, entries: Sequence[Entry]) -> None:
    """Save the entries of a conversation that a compaction would lose, in one commit."""
    first = entries[0]
    stamp = Stamp("agent", run=first.slots.get("run", ""), tool="flush", session=first.session_id)
    keeper.keep(entries, f"memory(facts): kept {len(entries)} of a conversation", stamp)


def keep_facts(workspace: Workspace, keeper: EntryWriter, facts: Sequence[str], context: RunContext) -> None:
    """Save facts that a model wants to keep from a conversation, only for the person who speaks in it; a fact that
    cannot be saved (a secret) is skipped.

    Saves nothing once the run has read untrusted text: that text may have asked for it; and nothing in a job's run.
    """
    if context.taint or context.job:
        return
    for fact in facts:
        entry = Entry(
            workspace.clock.new_id(),
            workspace.clock.now(),
            fact,
            type=EntryType.AUTO_FLUSH,
            channel=context.channel,
            source=MODEL,
            session_id=context.session,
            sender_id=context.sender,
            slots={"run": context.run},
            evidence=(f"[[{context.session.removesuffix('.md')}]]",) if context.session else (),
        )
        with suppress(SecretFound):
            save_flushed(keeper, [entry])


def ways_with_models(workspace: Workspace, models: Accounts) -> CaptureConfig:
    """The configuration of capture with the configured models."""
    summarise = _summarise(workspace, models) if models.models.fast.model.present else None
    return replace(rule_capture(workspace), summarise=summarise, thinks=models.models.main.model.present)


def _summarise(workspace: Workspace, models: Accounts) -> Callable[[str], str]:
    """A function that summarises a long turn with the fast model, on a separate account."""

    def summarise(turn: str) -> str:
        language = text("prompt.language", workspace.settings.vault.language)
        prompt = fill("turn", workspace.vault.own_version_of, language=language, turn=turn)
        model = models.of_run(f"capture-{workspace.clock.new_id()}", "").fast
        return model.chat(Request((User(prompt),), max_output=_SUMMARY_TOKENS)).message.text

    return summarise
