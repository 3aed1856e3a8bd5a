"""The requests that stand open in notes: which notes may ask, and those in `inbox/` that nobody has answered."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from agent.lazy import only_once
from agent.markdown import requests
from agent.markdown.requests import NoteRequest, has_answer
from agent.vault.drafts import body_lines, is_older
from agent.vault.folders import INBOX, MEMORY_NOTE, instructs, is_template
from agent.vault.history.versions import commit_of_begin, first_version
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

_COPY = re.compile(r"\.sync-conflict-[0-9]{8}-[0-9]{6}|[(（][^()（）]*(?:conflicted copy|冲突|衝突)", re.IGNORECASE)
"""Names that Syncthing, Dropbox and Nextcloud give to conflict copies: a copy asks nothing new."""


def asked_in(
    workspace: Workspace, path: str, *, named: bool = False, begin: Callable[[], str] | None = None
) -> tuple[NoteRequest, ...]:
    """The requests that stand open in a note; one that a person has `named` is a request wherever it lies. `begin` is
    the vault's first commit, for a caller that looks into many notes.

    A template asks nothing. A note that was in `inbox/` before this was a vault is as any other note of the person's.
    """
    data = workspace.vault.read(path)
    if data is None or not workspace.vault.home.row(path).asks or is_read_by_every_run(workspace.vault, path):
        return ()
    if not named and (_COPY.search(path) or is_template(path)):
        return ()
    in_inbox = is_inbox(workspace, path)
    if not in_inbox and not named and not requests.may_ask(data):
        return ()
    found = requests.open_requests(data, whole=in_inbox)
    if in_inbox and found and not requests.has_answer(data) and _is_older(workspace.vault, path, data, begin):
        in_inbox, found = False, requests.open_requests(data, whole=False)
    if named:
        return found or requests.open_requests(data, whole=True)
    own = workspace.vault.own_version(path)
    return found if own == data else _own_part(found, requests.open_requests(own or b"", whole=in_inbox))


def unreadable_in(workspace: Workspace, path: str, data: bytes) -> tuple[NoteRequest, ...]:
    """The requests in a note with these bytes whose header cannot be parsed, so that nothing can be answered; none of
    any other note."""
    vault = workspace.vault
    if not vault.home.row(path).asks or is_read_by_every_run(vault, path) or _COPY.search(path) or is_template(path):
        return ()
    return requests.unreadable_requests(
        data, whole=is_inbox(workspace, path) and not _is_older(vault, path, data, None)
    )


def _is_older(vault: Vault, path: str, data: bytes, begin: Callable[[], str] | None) -> bool:
    """True if the note was there before the folder became a vault, and a line of it is left."""
    before = first_version(vault, path, begin() if begin is not None else commit_of_begin(vault))
    if before is not None:
        return bool(body_lines(before) & body_lines(data))
    return is_older(vault.private_folder, path, data)


def is_inbox(workspace: Workspace, path: str) -> bool:
    """True if a note is a request because of where it is: in `inbox/`, if the person has given that to the agent."""
    return workspace.vault.home.holds(path, INBOX) and workspace.settings.inbox.every_note


def _own_part(found: Sequence[NoteRequest], own: Sequence[NoteRequest]) -> tuple[NoteRequest, ...]:
    """Those of the requests in a note that the person has made here, in their words, without what arrived in it."""
    words = {each.key if each.line else "": each.text for each in own}
    mine = ((each, words.get(each.key if each.line else "", "")) for each in found)
    return tuple(replace(each, text=text) for each, text in mine if text)


def is_read_by_every_run(vault: Vault, path: str) -> bool:
    """True for a note that every run reads: an answer in it would steer all later runs."""
    return instructs(path) or vault.home.row(path).path == MEMORY_NOTE


def unanswered(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """The notes in `inbox/` that ask and have no answer yet, each with the id of its content."""
    vault = workspace.vault
    begin = only_once(lambda: commit_of_begin(vault))  # one walk over the history for all of them
    for path in vault.note_paths(vault.home.at(INBOX)):
        data = vault.read(path)
        if data is not None and not has_answer(data) and asked_in(workspace, path, begin=begin):
            yield path, vault.content_id(data)
