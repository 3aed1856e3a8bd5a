"""One request of a note: the run that works on it, in a thread of its own, and what is put into the note then.

When it is begun, and what becomes of the note afterwards, is `inbox`'s.
"""

import logging
import threading
from contextlib import closing

from agent.app.build import App, reread
from agent.app.library import library
from agent.app.pending import Entry
from agent.app.requests import Placed, asked_in, held, perform, place, refuse
from agent.app.runs import Line, runs
from agent.errors import AgentError, LockHeld, NoteGone
from agent.loop.session import load_session
from agent.vault.store import Vault

logger = logging.getLogger(__name__)


def work(app: App, entry: Entry, stopping: threading.Event) -> None:
    """One run, in its thread; only the entry's own fields are set here."""
    assert entry.request is not None
    line = Line(cancelled=lambda: stopping.is_set() or entry.cancelled.is_set())
    path = entry.path
    try:
        app = reread(app)
        with held(app, path), closing(library(app)) as index, closing(runs(app, index)) as agent:
            if entry.session:
                entry.ended = agent.resume(entry.session, line)
            elif is_open(app, entry):
                entry.ended = perform(app, agent, path, entry.request, line)
            else:
                entry.again = True
    except (LockHeld, NoteGone):
        entry.due, entry.again = app.clock.monotonic() + 1.0, True
    except AgentError as error:
        entry.refusal = ("failed", ". ".join(filter(None, [error.message, error.hint])))
    except Exception as error:  # a bug in one run must not end the daemon's others, nor go unseen
        logger.warning("the run for %s failed", entry.path, exc_info=True)
        entry.refusal = ("failed", f"{type(error).__name__}: {error}")
    entry.phase = "ended"


def answer(app: App, entry: Entry) -> Placed | None:
    """Put what the run came to, or why there was none, into the note; raises what `place` does."""
    if entry.request is None:
        return None
    if entry.ended is not None:
        return place(app, entry.path, entry.request, entry.ended)
    return refuse(app, entry.path, entry.request, *entry.refusal) if entry.refusal else None


def is_open(app: App, entry: Entry) -> bool:
    """Whether what the entry is about stands open in its note."""
    assert entry.request is not None
    return entry.request.key in {each.key for each in asked_in(app, entry.path)}


def is_over(vault: Vault, session: str) -> bool:
    """Whether no run is open in a session, or there is no such session."""
    try:
        return load_session(vault, session).open_run is None
    except AgentError:
        return True
