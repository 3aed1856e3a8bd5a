"""Requests that a program leaves for the agent, as notes in `inbox/`; the daemon answers them there.

The commit of such a note names the program and `LEAVE`. So it is known for good that it is a request, though no hand
wrote it, and under whose policy it is worked on.
"""

from itertools import count

from agent.channel_names import IN_NOTES
from agent.errors import UserError
from agent.memory.entry import slug
from agent.tools.tool import Draft
from agent.vault.change import CLIENT, HTTP, LEAVE
from agent.vault.folders import INBOX
from agent.vault.history.commits import Commit
from agent.vault.history.find import commits
from agent.vault.message import one_line
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

GROUPS = frozenset({"fs", "orchestration"})
"""The groups of that tool in the policy."""


def request_draft(workspace: Workspace, text: str) -> Draft:
    """The note that leaves a request, under a name that is free; raises `UserError` for an empty one."""
    vault, words = workspace.vault, text.strip()
    if not words:
        raise UserError("the request is empty", hint="say what the agent is to do")
    name = f"{workspace.clock.now():%Y-%m-%d} {slug(words) or 'request'}"
    paths = (vault.home.at(f"{INBOX}{name}{f' {number}' if number > 1 else ''}.md") for number in count(1))
    path = next(path for path in paths if vault.read(path) is None)
    asks = "" if workspace.settings.inbox.every_note and not words.startswith("---") else "---\nagent: ask\n---\n\n"
    return Draft(path, None, f"{asks}{words}\n".encode())


def request_subject(draft: Draft) -> str:
    """The subject of the commit that leaves a request."""
    words = (draft.after or b"").decode("utf-8", "replace").removeprefix("---\nagent: ask\n---\n\n")
    return f"inbox(asked): {one_line(words)}"


def is_answered_by_daemon(workspace: Workspace, path: str) -> bool:
    """True if a daemon answers requests in the note at this path."""
    answers = workspace.settings.inbox.answers
    return answers == "vault" or (answers == "inbox" and workspace.vault.home.holds(path, INBOX))


def channel_of_left(vault: Vault, path: str, blob: str) -> str:
    """The channel of the program that left this version (a blob id) of a note as a request; empty if none did."""
    stamp = vault.stamp_of(path, blob)
    if stamp is not None:
        return stamp.actor if stamp.tool == LEAVE else ""
    last = _last_commit(vault, path, blob)
    return last.actor if last is not None and last.tool == LEAVE else ""


def channel_of_pulled(vault: Vault, path: str, blob: str) -> str:
    """The channel on which this version of a note asks, that came from another machine of the person: that of the
    program that has made it there, else the person's own."""
    last = _last_commit(vault, path, blob)
    actor = "" if last is None else last.claims or last.actor
    return actor if actor == HTTP or actor.startswith(CLIENT) else IN_NOTES


def _last_commit(vault: Vault, path: str, blob: str) -> Commit | None:
    """The commit that made this version of a note; None if it is not committed, or not the current one."""
    data = vault.read_at("HEAD", path) if vault.head else None
    if data is None or vault.content_id(data) != blob:
        return None
    return next(iter(commits(vault, path=path, limit=1)), None)
