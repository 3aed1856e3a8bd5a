"""Requests in notes: what a note asks for, the run that works on it, the answer put into the note in one commit.

The same for the daemon and for whoever names a note on the command line. When a request is finished, and which notes
may ask at all without being named, is `inbox`'s.
"""

import re
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import PurePosixPath

from agent.background.inbox.provenance import meant_requests
from agent.channel_names import IN_NOTES
from agent.dataclass import dataclass
from agent.errors import AgentError, NoteGone, Retryable
from agent.events.runs import Speaker
from agent.loop import outcome as ends
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.loop.session import Session, load_session
from agent.markdown import requests
from agent.markdown.inertness.active import inert_blocks, inert_line
from agent.markdown.note import Note
from agent.markdown.requests import Answer, NoteRequest, RequestStatus
from agent.runs.crash_recovery import is_own
from agent.runs.open_requests import unreadable_in
from agent.runs.registry import run_registry
from agent.runs.request_note import with_link
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.texts import text, translated
from agent.tools.text_origin import text_origin_of
from agent.tools.tool import Cited
from agent.vault.change import CAPTURE, Outcome, Stamp
from agent.vault.folders import ENTRIES
from agent.vault.message import one_line
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

_ENTRY = re.compile(r"\d{4}-\d\d-\d\d-(.+)-[0-9a-z]{6}")
"""The name of an entry: its day, its first words, the end of its id."""
_PLAIN = frozenset({"about", "agent"})
"""Types of notes that lie before the agent in any case: no answer comes from them."""
_LINKS = 8
"""The most notes that an answer links to below it."""
_TRIES = 5
_STATUS: dict[ends.RunOutcome, RequestStatus] = {
    ends.RunOutcome.FINISHED: "done",
    ends.RunOutcome.NEEDS_APPROVAL: "needs_approval",
    ends.RunOutcome.QUESTION_ASKED: "question",
}


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer in its note: the commit, or why it waits to be written, and the name that its block has."""

    path: str
    status: RequestStatus
    commit: str | None
    queued: str
    run: str


def request_lock(workspace: Workspace, path: str) -> AbstractContextManager[None]:
    """Be the only process that works on the requests of a note; entering raises `LockHeld`."""
    return run_registry(workspace.vault).held(
        f"note-{workspace.vault.content_id(path.encode('utf-8', 'surrogateescape'))[:16]}"
    )


def run_request(
    workspace: Workspace,
    agent: RunService,
    path: str,
    request: NoteRequest,
    line: RunIO,
    channel: str = IN_NOTES,
) -> Ended:
    """Work on a request that was asked on a channel; a note that comes from elsewhere taints the run. Raises what
    `RunService.ask` does."""
    data = workspace.vault.read(path)
    if data is None:
        raise NoteGone("{path} is gone", hint="vault-agent log shows what was moved or deleted", path=path)
    task = with_link(request.text, path)
    untrusted = text_origin_of(workspace.vault).source(path, data)
    session = _session_before(workspace, agent, data, channel)
    return agent.ask(RunRequest(task, Speaker(channel)), session, line, untrusted)


def write_answer(workspace: Workspace, path: str, request: NoteRequest, ended: Ended) -> WrittenAnswer | None:
    """Put what a run came to into the note, in one commit; None when the task is not in the note any more.

    Raises `NoteGone` when the note is not there, `BadNote` for one that is no text, and what a transaction does.
    """
    status = _STATUS.get(ended.outcome, "failed")
    text, reason = (
        _answer_text(workspace, path, ended, status),
        "" if status == "done" else workspace.vault.masked(ended.reason),
    )
    return _write(
        workspace,
        path,
        request,
        Answer(ended.run, text, status, _inert_reason(reason), _text(workspace, "answers.answer")),
        ended,
    )


def write_refusal(
    workspace: Workspace, path: str, request: NoteRequest, status: RequestStatus, reason: str
) -> WrittenAnswer | None:
    """Say in the note why a request is not worked on; raises as `place` does."""
    answer = Answer(
        workspace.clock.new_id(),
        _text(workspace, "answers.ask_again"),
        status,
        reason,
        _text(workspace, "answers.answer"),
    )
    return _write(workspace, path, request, answer, None)


def write_notice(workspace: Workspace, path: str, request: NoteRequest, notice: str) -> None:
    """Say in the note why its request has to wait; it stays open, and its answer takes the notice's place.

    Raises as `write_answer` does.
    """

    def make(data: bytes) -> bytes | None:
        after = requests.with_notice(data, request, notice)
        return None if after == data else after

    subject = f"inbox(waiting): {one_line(workspace.vault.masked(request.text))}"
    change_note(workspace, path, make, subject, Stamp("agent", tool="inbox"))


def say_unreadable(workspace: Workspace, path: str, data: bytes, touched: Collection[str]) -> str:
    """Say in a note with these bytes that its header keeps its request from being read, if the person made that here;
    what it is answered with later takes the place. `touched` are the keys of the tasks that they wrote.

    Returns why the note cannot be read, empty for one that asks nothing. Raises as `write_answer` does.
    """
    meant = meant_requests(workspace.vault, path, unreadable_in(workspace, path, data), touched)
    problem = Note.parse(data).problem
    if not meant or problem is None:
        return ""
    language = workspace.settings.vault.language
    write_notice(
        workspace, path, meant[0], text("inbox.unreadable", language, reason=translated(problem.message, language))
    )
    return requests.unreadable_reason(data)


def change_note(
    workspace: Workspace, path: str, make: Callable[[bytes], bytes | None], subject: str, stamp: Stamp
) -> Outcome:
    """Change a note in one commit by what `make` gives for its bytes, None for nothing (no commit then).

    What is held of the stamp's session is a part of that commit.

    When a person saves it in the very moment, their version may come into our way: it stays as it is, and what `make`
    gives for that is put in once more. Raises `NoteGone` when the note is not there, and what a transaction does.
    """
    outcome = Outcome()
    copies: tuple[str, ...] = ()
    for _ in range(_TRIES):
        data = workspace.vault.read(path)
        if data is None:
            raise NoteGone("{path} is gone", hint="vault-agent log shows what was moved or deleted", path=path)
        after = make(_without_links(data, copies))
        if after is None:
            return outcome
        with workspace.vault.transaction(subject, stamp) as change:
            change.edit(path, data, after)
            change.release(*workspace.vault.held_of(stamp.session))
            for copy in copies[-1:]:  # it holds what is in history, and what is put in anew
                change.delete(copy)
        outcome = change.outcome
        if not outcome.conflicts:
            return outcome
        copies += outcome.conflicts
    return outcome


def _without_links(data: bytes, copies: tuple[str, ...]) -> bytes:
    """The note without the links to these copies that a collision has left in its header."""
    ours = {f"[[{copy.removesuffix('.md')}]]" for copy in copies}
    note = Note.parse(data)
    links = note.strings("conflicts")
    left = [link for link in links if link not in ours]
    if len(left) == len(links):
        return data
    return (note.with_key("conflicts", left) if left else note.without_key("conflicts")).data


def _write(
    workspace: Workspace, path: str, request: NoteRequest, answer: Answer, ended: Ended | None
) -> WrittenAnswer | None:
    strangers = _strangers(workspace, ended)
    placed = False

    def make(data: bytes) -> bytes | None:
        nonlocal placed
        after = requests.with_answer(data, request, answer)
        placed = after is not None
        if after is not None and strangers and ended is not None:
            text_origin_of(workspace.vault).remember(ended.run, after, data, strangers)
        return after

    stamp = Stamp("agent", tool="inbox")
    if ended is not None:  # the tool of a run's record, which this commit takes along
        stamp = Stamp("agent", run=ended.run, tool=CAPTURE, session=ended.session)
    how = answer.status.replace("_", " ")
    subject = f"inbox({how}): {one_line(workspace.vault.masked(request.text))}"
    try:
        outcome = change_note(workspace, path, make, subject, stamp)
    except Retryable:
        raise
    except AgentError:
        commit_record(workspace.vault, ended)
        raise
    if not placed:
        commit_record(workspace.vault, ended)
    return WrittenAnswer(path, answer.status, outcome.commit, outcome.queued or "", answer.run) if placed else None


def commit_record(vault: Vault, ended: Ended | None) -> None:
    """Commit what is held about a run whose answer goes into no note."""
    if ended is not None:
        vault.commit_held(vault.held_of(ended.session))


def _answer_text(workspace: Workspace, path: str, ended: Ended, status: RequestStatus) -> str:
    """The answer and its links."""
    parts = [inert_blocks(workspace.vault.masked(ended.remarked.strip()))]
    if status in ("needs_approval", "question"):
        parts = [_text(workspace, "answers.waits", note=f"[[{ended.waits_for.removesuffix('.md')}]]")]
    elif status == "failed":
        hint = workspace.vault.masked(ended.hint)
        parts += [_text(workspace, "answers.helps", hint=hint)] if hint else []
        parts.append(_text(workspace, "answers.ask_again"))
    found = _rests_on(workspace, path, ended) if status == "done" else ()
    if found:
        notes = _text(workspace, "answers.comma").join(_link(workspace.vault, each) for each in found)
        parts.append(_text(workspace, "answers.sources", notes=notes))
    how = _text(workspace, "answers.how")
    return "\n\n".join(filter(None, [*parts, f"[[{ended.session.removesuffix('.md')}|{how}]]"]))


def _link(vault: Vault, note: str) -> str:
    """A link to a note; to an entry by its words, without the day and the tail of its name."""
    named = _ENTRY.fullmatch(PurePosixPath(note).name) if vault.home.holds(note, ENTRIES) else None
    return f"[[{note}|{named[1].replace('-', ' ')}]]" if named else f"[[{note}]]"


def _rests_on(workspace: Workspace, path: str, ended: Ended) -> tuple[str, ...]:
    """The notes that an answer rests on and does not name as its sources: the first few that it used, without those
    that say what the folders are for. The session's note has a receipt for each of the others."""
    used = (each for each in _others(path, ended.used) if not _is_plain(workspace, each))
    named = _named_sources(workspace, ended.answer)
    found = (each for each in used if f"[[{each.removesuffix('.md')}" not in named)
    return tuple(each.removesuffix(".md") for each in islice(found, _LINKS))


def _named_sources(workspace: Workspace, answer: str) -> str:
    """The lines of an answer that name its sources themselves, such as “From: [[Tea]]”."""
    head = _text(workspace, "answers.sources", notes="").rstrip(": ：")
    return "\n".join(line for line in answer.splitlines() if line.lstrip(" >*_-").startswith(head))


def _others(path: str, cited: Iterable[Cited]) -> tuple[str, ...]:
    found = (each.path for each in cited if each.path != path)
    return tuple(dict.fromkeys(each for each in found if not PurePosixPath(each).is_absolute()))  # a skill of ours


def _is_plain(workspace: Workspace, path: str) -> bool:
    data = workspace.vault.read(path)
    return data is None or Note.parse(data).type in _PLAIN


def _strangers(workspace: Workspace, ended: Ended | None) -> tuple[str, ...]:
    if ended is None:
        return ()
    try:
        return load_session(workspace.vault, ended.session).untrusted
    except NoteGone:
        return ()


def _session_before(workspace: Workspace, agent: RunService, data: bytes, channel: str) -> str:
    """The session in which the note's last request was answered, if it is this machine's and can be gone on with."""
    path = requests.last_session(data)
    try:
        session: Session | None = load_session(workspace.vault, path) if path else None
    except AgentError:
        return ""
    if session is None or session.channel != channel or session.open_run or not is_own(workspace, session):
        return ""
    return "" if agent.is_stale(session) else path


def _text(workspace: Workspace, key: str, **values: str) -> str:
    return text(key, workspace.settings.vault.language, **values)


def _inert_reason(text: str) -> str:
    return " ".join(inert_line(text).replace("*", " ").split())[:300]
