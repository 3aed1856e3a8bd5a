"""Bugs to plant into the agent, so that its trust tests can show that they would notice. As in `plants`."""

from collections.abc import Callable, Sequence

from agent.errors import AgentError, UserError
from agent.interfaces.cli import output, printing
from agent.llm import failures
from agent.llm.messages import JsonObject
from agent.loop import record_format, session
from agent.loop.run import Run
from agent.loop.session import Session
from agent.memory.entry import slug
from agent.runs import service as runs
from agent.runs.service import RunService
from agent.texts import Sentence
from agent.tools.approvals import Approvals
from agent.tools.builtin.notes import Notes
from agent.tools.text_origin import TextOrigin
from agent.tools.tool import Draft, RunContext, ToolOutput
from agent.vault import message, transaction
from agent.vault.folders import SESSIONS
from agent.vault.store import Vault
from agent.vault.transaction import Transaction
from tests.trust.plants import Put


def _taint_forgotten(put: Put) -> None:
    put(Session, "untrusted", ())


def _yes_for_every_call(put: Put) -> None:
    require = Approvals.require

    def careless(
        self: Approvals, tool: str, arguments: JsonObject, context: RunContext, why: str, drafts: Sequence[Draft] = ()
    ) -> None:
        said = [asked for asked in self._all() if asked.run == context.run and asked.name == tool]
        if not any(asked.status == "used" for asked in said):
            require(self, tool, arguments, context, why, drafts)

    put(Approvals, "require", careless)


def _foreign_text_not_known(put: Put) -> None:
    put(TextOrigin, "source", lambda self, path, data, lines=None: "")


def _answers_shown_as_they_are(put: Put) -> None:
    put(record_format, "inert", lambda text: text)


def _done_without_a_commit(put: Put) -> None:
    commit = Notes.commit

    def careless(
        self: Notes,
        tool: str,
        context: RunContext,
        subject: str,
        drafts: Sequence[Draft],
        fill: Callable[[Transaction], None] | None = None,
    ) -> ToolOutput:
        try:
            return commit(self, tool, context, subject, drafts, fill)
        except UserError:
            return ToolOutput(f"done: {subject} (commit 0123456789ab)")

    put(Notes, "commit", careless)


def _session_not_saved(put: Put) -> None:
    save = Session.save

    def careless(self: Session, what: Sentence, **_: object) -> None:
        try:
            save(self, what)
        except AgentError:
            self.saved = len(self.records)

    put(Session, "save", careless)


def _key_shown(put: Put) -> None:
    put(failures, "redact", lambda text, secrets: text)
    put(Vault, "masked", lambda self, text: text)  # the reason of a stop is masked once more


def _limits_once_an_answer(put: Put) -> None:
    put(Run, "check_call", lambda self: None)


def _no_time_limit_in_a_call(put: Put) -> None:
    put(Run, "is_late", lambda self: False)


def _commits_not_masked(put: Put) -> None:
    put(RunService, "_masked", lambda self, asked: asked)
    put(message, "without_secrets", lambda text, known: text)
    put(transaction, "masked_order", lambda order, known: order)


def _session_names_not_masked(put: Put) -> None:
    """Nor refused: what stands in the way is taken away, too."""
    put(RunService, "_masked", lambda self, asked: asked)
    put(session, "begin_session", careless_begin)
    put(runs, "begin_session", careless_begin)
    put(transaction, "_in_name", lambda before, after, known: [])


def careless_begin(vault: Vault, channel: str, task: str, parent: str = "", id: str = "") -> Session:
    """As `begin_session`, with the task as it is."""
    id = id or vault.clock.new_id()
    return Session(vault, f"{SESSIONS}2026/01/2026-01-01-{slug(task)}-{id[-6:].lower()}.md", id, channel, parent)


def _secrets_written(put: Put) -> None:
    put(transaction, "refuse_secrets", lambda requests, known, exists: None)


def _keys_printed(put: Put) -> None:
    put(output, "printable", lambda text: text)
    put(printing, "printable", lambda text: text)


BUGS: dict[str, Callable[[Put], None]] = {
    "taint is not carried into the next run": _taint_forgotten,
    "a yes holds for every call of the tool": _yes_for_every_call,
    "foreign text is not known": _foreign_text_not_known,
    "answers are shown as they are": _answers_shown_as_they_are,
    "done is said without a commit": _done_without_a_commit,
    "a session that was not saved counts as saved": _session_not_saved,
    "the key is shown": _key_shown,
    "limits are looked at once an answer": _limits_once_an_answer,
    "a run's time does not end a call": _no_time_limit_in_a_call,
    "commits are not masked": _commits_not_masked,
    "session names are not masked": _session_names_not_masked,
    "a known key is written": _secrets_written,
    "a known key is printed": _keys_printed,
}


def plant(name: str, put: Put) -> None:
    """Replace the part of the agent that `name` says."""
    BUGS[name](put)
