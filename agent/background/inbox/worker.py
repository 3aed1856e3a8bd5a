"""The work on one request: the run that answers it, and the answer that is written into its note.

`inbox` decides when it begins and what happens to the note afterwards.
"""

import logging
from collections.abc import Callable

from agent.background.failures import failure_text
from agent.background.inbox.answering import (
    WrittenAnswer,
    request_lock,
    run_request,
    write_answer,
    write_notice,
    write_refusal,
)
from agent.background.inbox.queue import PendingRequest
from agent.background.inbox.turns import AGAIN_AT_MOST, begin_turn, held_turn
from agent.background.resume import OpenRuns
from agent.dataclass import dataclass
from agent.errors import AgentError, LockHeld, NoteGone, Retryable
from agent.llm.messages import Cancelled, never
from agent.llm.model_key import MissingModelKey
from agent.loop.outcome import RunOutcome
from agent.loop.session import load_session
from agent.runs.open_requests import asked_in
from agent.runs.run_io import RunIO
from agent.texts import text
from agent.vault.store import Vault
from agent.vault.sync.claims import Claims, RemoteUnreachable
from agent.vault.sync.turns import NotOurTurn, Turn
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Worker:
    """Works on one request, if no other machine does. `began` is called when a place in the pool is free, before
    anything else; `missing` returns why no model can be asked, None if one can."""

    workspace: Workspace
    open_runs: OpenRuns
    claims: Claims
    began: Callable[[], object]
    missing: Callable[[], MissingModelKey | None]

    def work(self, entry: PendingRequest, cancelled: Cancelled) -> None:
        """One run, in its thread; only the entry's own fields are set here. Raises nothing."""
        assert entry.request is not None
        missing = None if entry.session else self.missing()
        if missing is not None:
            language = self.workspace.settings.vault.language
            entry.notice = text("inbox.no_key", language, why=missing.why, setting=missing.setting)
            entry.phase = "ended"
            return
        try:
            self.began()
            with request_lock(self.workspace, entry.path):
                turn = begin_turn(self.claims, self.workspace.vault, entry.path)
                entry.turn, entry.waits_for_turn, entry.turns_missed = turn, "", 0
                self._run(entry, turn, cancelled)
        except (NotOurTurn, RemoteUnreachable) as error:
            self._wait(entry, error)
            entry.again = True
        except (LockHeld, NoteGone):
            entry.due, entry.again = self.workspace.clock.monotonic() + 1.0, True
        except AgentError as error:
            entry.refusal = ("failed", ". ".join(filter(None, [error.message, error.hint])))
        except Exception as error:  # a bug in one run must not end the daemon's others, nor go unseen
            logger.warning("the run for %s failed", entry.path, exc_info=True)
            entry.refusal = ("failed", failure_text(error))
        self.keep_turn(entry)

    def keep_turn(self, entry: PendingRequest, cancelled: Cancelled = never) -> None:
        """Keep the turn until the answer is handed over, or find that it is lost. Raises nothing."""
        is_stopped = entry.ended is not None and entry.ended.outcome is RunOutcome.INTERRUPTED
        is_answer = entry.refusal is not None or (entry.ended is not None and not is_stopped)
        if is_answer and entry.turn is None:
            entry.turn = held_turn(self.claims, self.workspace.vault, entry.path)
        try:
            if entry.turn is not None and (is_answer or entry.turn.is_lost()):
                entry.turn_lost = not entry.turn.finish()
                entry.waits_for_turn = ""
            entry.phase = "ended"
        except Retryable as error:
            self._wait(entry, error)
            entry.phase = "unsure"

    def _run(self, entry: PendingRequest, turn: Turn, cancelled: Cancelled) -> None:
        assert entry.request is not None
        line = RunIO(cancelled=lambda: cancelled() or entry.cancelled.is_set() or turn.is_lost())
        with self.open_runs() as runs:
            runs.capturing.hold = True  # the commit of the answer has the record of the run
            if not is_open(runs.workspace, entry):
                entry.again = True
            elif entry.session:
                entry.ended = runs.resume(entry.session, line)
            else:
                entry.ended = run_request(runs.workspace, runs, entry.path, entry.request, line, entry.channel)

    def _wait(self, entry: PendingRequest, error: Retryable) -> None:
        """Try again later, less and less often."""
        wait = min(2.0**entry.turns_missed, AGAIN_AT_MOST)
        entry.due = self.workspace.clock.monotonic() + wait
        entry.turns_missed += 1
        entry.waits_for_turn = f"{error.message}; {error.hint}" if error.hint else ""


def answer(workspace: Workspace, entry: PendingRequest) -> WrittenAnswer | None:
    """Put what the run came to, or why there was none, into the note; raises what `place` does."""
    if entry.request is None:
        return None
    if entry.notice:
        write_notice(workspace, entry.path, entry.request, entry.notice)
        return None
    if entry.ended is not None:
        return write_answer(workspace, entry.path, entry.request, entry.ended)
    return write_refusal(workspace, entry.path, entry.request, *entry.refusal) if entry.refusal else None


def is_open(workspace: Workspace, entry: PendingRequest) -> bool:
    """True if the entry's request is still open in its note."""
    assert entry.request is not None
    return entry.request.key in {each.key for each in asked_in(workspace, entry.path)}


def is_over(vault: Vault, session: str) -> bool:
    """True if the session has no open run, or does not exist."""
    try:
        return load_session(vault, session).open_run is None
    except AgentError:
        return True
