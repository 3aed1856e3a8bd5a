"""Which requests in a note the person made here: not what a pull brought, and not what this program wrote.

The events of the watcher say most of it. What was saved between the last look and our own write is in no event, and is
found by comparing the versions of the note.
"""

import logging
from collections.abc import Collection, Iterable, Sequence

from agent.background.inbox.answer_log import LoggedAnswer
from agent.background.inbox.queue import ALL, PendingRequest
from agent.errors import AgentError
from agent.events.types import NoteCreated, NoteEdited, NoteMoved
from agent.importers.values import ID
from agent.markdown.changes import NoteChange, TaskAdded, TaskMarked, TaskUnticked, compare_notes
from agent.markdown.note import Note
from agent.markdown.requests import NoteRequest, is_answered, may_ask, task_key, unreadable_reason, waiting_line
from agent.runs.open_requests import asked_in, is_inbox
from agent.texts import text
from agent.tools.text_origin import stated_origin
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


def touched_tasks(changes: Iterable[NoteChange]) -> set[str]:
    """The keys of the tasks for the agent that were written or unticked."""
    touched = (each for each in changes if isinstance(each, TaskAdded | TaskUnticked | TaskMarked))
    return {task_key(each.text) for each in touched if "@agent" in each.text.lower()}


def touched_by(
    vault: Vault, event: NoteCreated[NoteChange] | NoteEdited[NoteChange] | NoteMoved[NoteChange]
) -> set[str]:
    """The keys of the tasks that a change of a note has written or unticked: all, if nobody knows; none of a page from
    elsewhere that was saved."""
    if isinstance(event, NoteCreated) and is_page_of_others(vault, event.path):
        return set()
    is_known = isinstance(event, NoteCreated) or event.compared
    return touched_tasks(event.changes) if is_known else {ALL}


def is_meant(request: NoteRequest, touched: Collection[str]) -> bool:
    """True if the person made this request here: they changed the whole note, or wrote or unticked the task."""
    return not request.line or request.key in touched or ALL in touched


def is_page_of_others(vault: Vault, path: str) -> bool:
    """True if a note says that it is a page, a mail, a file or an import from elsewhere: what stands in it when it is
    saved asks nothing. What a program has left for the agent says for itself what it was made of, and taints the run.
    """
    data = vault.read(path) or b""
    header = Note.parse(data).header
    return ID in header or (may_ask(data) and bool(stated_origin(path, data)) and "untrusted" not in header)


def meant_requests(
    vault: Vault, path: str, asked: Sequence[NoteRequest], touched: Collection[str]
) -> tuple[NoteRequest, ...]:
    """The requests in a note that the person made here: neither the whole of a page from elsewhere, nor a line
    that arrived or that a run wrote after it had read a stranger's text."""
    data, is_page = vault.read(path) or b"", is_page_of_others(vault, path)
    waiting = 0 if is_page else waiting_line(data)  # it was made before, and could not be read
    meant = [each for each in asked if is_meant(each, touched) or each.line == waiting]
    strange = [each.line and vault.provenance.strangers(path, data, (each.line, each.line)) for each in meant]
    found = zip(meant, strange, strict=True)
    return tuple(each for each, source in found if not source and (each.line or not is_page))


def why_nothing(
    workspace: Workspace, path: str, data: bytes, asked: Sequence[NoteRequest], meant: Sequence[NoteRequest]
) -> str:
    """The reason why a note is not answered that seems to ask something; empty if it does not, or nobody need know."""
    language = workspace.settings.vault.language
    if meant:
        return text("inbox.answered_before", language)
    if asked and (is_page_of_others(workspace.vault, path) or workspace.vault.provenance.strangers(path, data)):
        return text("inbox.page", language, path=path)
    return unreadable_reason(data) if is_inbox(workspace, path) else ""


def check_origin(vault: Vault, entry: PendingRequest) -> None:
    """Mark the entry, just before its note is answered, if a pull or this program has changed the note since."""
    data = vault.read(entry.path)
    digest = "" if data is None else vault.content_id(data)
    if data is None or digest == entry.blob:
        return
    try:
        arrived = vault.provenance.arrived(entry.path, digest)
    except AgentError as error:
        logger.info("%s: git does not say where it comes from: %s", entry.path, error.message)
        arrived = True
    if arrived:
        entry.again = False
        drop_arrived(vault, entry)
    if arrived or vault.is_own_version(entry.path, digest):
        entry.mixed = True


def drop_arrived(vault: Vault, entry: PendingRequest) -> None:
    """Remove the tasks that came with a pull from the entry's `keys`."""
    came = {digest for digest in entry.keys.values() if vault.provenance.arrived(entry.path, digest)}
    entry.keys = {key: digest for key, digest in entry.keys.items() if digest not in came}


def asks_more(workspace: Workspace, entry: PendingRequest, answers: Sequence[LoggedAnswer]) -> bool:
    """True if the person saved new requests while the answer was written; sets the entry's `keys`.

    `answers` are the answers in the note, the entry's own last.
    """
    data = workspace.vault.read(entry.path)
    if entry.mixed or entry.request is None or data is None or not answers or not is_answered(data, answers[-1].run):
        return False
    before = Note.parse(entry.request.base.encode("utf-8", "replace"))
    entry.keys = dict.fromkeys(touched_tasks(compare_notes(before, Note.parse(data))), workspace.vault.content_id(data))
    return any(is_meant(each, entry.keys) for each in asked_in(workspace, entry.path))
