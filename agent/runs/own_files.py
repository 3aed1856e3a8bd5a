"""Is this file yours? The person is asked once, when the agent has read a file that they have put into their vault.

Such a file may come from anybody, so that after reading it much waits for a yes. A yes adds the file to the setting
`attachments.mine`; once one file of a folder is theirs, the next question is about the folder; after a no nothing of
that folder is asked about again.
"""

import logging
import re
from collections.abc import Sequence
from glob import escape
from pathlib import Path, PurePosixPath

from agent.asking.answers import propose, settle
from agent.asking.proposal import Proposal, ProposalDraft, ProposalKind, ProposalStatus
from agent.asking.records import proposals_of
from agent.config.edit import set_machine
from agent.config.load import load_vault_settings
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.runs import TaskCompleted
from agent.loop.records import sources_in
from agent.loop.session import Session, load_session
from agent.memory.daily import inert
from agent.texts import text
from agent.tools.text_origin import saved_file_in, text_origin_of
from agent.vault.change import Request, Stamp
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.find import commits
from agent.vault.provenance.own_runs import OwnRun, add_own_run
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

KIND: ProposalKind = "own_file"
FILE, FOLDER = "file", "folder"
"""The facts of a question: the path of the file that was read, and of its folder if the question is about that."""
_KEY = "attachments.mine"
_STAMP = Stamp("agent", tool="own_files")
_IN_THE_WAY = re.compile(r"[,\n]|^\s|\s$")
"""What a path in the setting cannot have: a comma ends it there."""

logger = logging.getLogger(__name__)


def ask_about_own_files(workspace: Workspace, event: TaskCompleted) -> None:
    """Ask about the first file that was read in the conversation of a run, if one is to be asked about; one at a
    time."""
    vault = workspace.vault
    try:
        session = load_session(vault, event.session)
        _remember_files(vault, event.run, session)
        began = session.last_run
        known = proposals_of(vault, KIND)
        if began is None or began.role != "owner" or any(each.status in ("asking", "pending") for each in known):
            return
        files = filter(None, map(saved_file_in, session.untrusted))
        path = next((each for each in files if _may_ask(vault, each, known)), "")
        if path:
            propose(vault, _draft(workspace, path, event.session, known), workspace.settings.vault.language,
                    tool=_STAMP.tool)  # fmt: skip
    except (AgentError, OSError) as error:
        logger.warning("a file that was read could not be asked about: %s", error)


def settle_own_files(workspace: Workspace) -> tuple[Proposal, ...]:
    """Carry out the answers; returns what is decided now."""
    return settle(workspace.vault, (KIND,), OwnFileConsequence(workspace), _STAMP)


@dataclass(frozen=True, slots=True)
class OwnFileConsequence:
    """A yes adds the file or folder to the setting, for this vault on this machine; a deleted note is a no."""

    workspace: Workspace

    def judge(self, asked: Proposal, answer: bool | None) -> ProposalStatus | None:
        """The new status of a question; the setting may have answered it."""
        if self.workspace.vault.read(asked.path) is None:
            return "rejected"
        if answer is None:
            return "approved" if text_origin_of(self.workspace.vault).is_mine(asked.facts[FILE]) else None
        return "approved" if answer else "rejected"

    def carry_out(self, decided: Proposal) -> Sequence[Request]:
        """Write the setting; nothing is written into the vault."""
        vault, named = self.workspace.vault, _pattern(decided)
        loaded = load_vault_settings(vault.place.root, vault_id=vault.id)
        present = loaded.settings.attachments.mine
        if decided.status == "approved" and named not in map(str.strip, present.split(",")):
            set_machine(_KEY, ", ".join(filter(None, (present.strip(" ,"), named))), vault_id=vault.id)
        return ()


def _remember_files(vault: Vault, run: str, session: Session) -> None:
    """Remember the files that a run which is over has read, if it has read nothing else of others, as far as is known:
    what it wrote then is the person's, once they name these files as their own."""
    files, is_over = tuple(map(saved_file_in, sources_in(session.records))), session.open_run is None
    if files and is_over and not any(not each or text_origin_of(vault).is_from_others(each) for each in files):
        add_own_run(vault.records, OwnRun(run, files))


def _may_ask(vault: Vault, path: str, known: Sequence[Proposal]) -> bool:
    """True for a file that the person has put there, and that they were not asked about yet."""
    folder = _folder(path)
    if any(each.facts[FILE] == path or (each.status == "rejected" and _folder(each.facts[FILE]) == folder)
           for each in known):  # fmt: skip
        return False
    return not _IN_THE_WAY.search(path) and Path(vault.place.root, path).is_file() and _is_put_by_person(vault, path)


def _is_put_by_person(vault: Vault, path: str) -> bool:
    """True for a file that no program and no other writer has brought; git may not have it."""
    if text_origin_of(vault).is_from_others(path):
        return False
    last = commits(vault, path=path, limit=1)
    return not last or (last[0].actor == HUMAN and not last[0].claims)


def _draft(workspace: Workspace, path: str, session: str, known: Sequence[Proposal]) -> ProposalDraft:
    language, folder = workspace.settings.vault.language, _folder(path)
    is_next = folder and any(each.status == "approved" and _folder(each.facts[FILE]) == folder for each in known)
    facts = {FILE: path, **({FOLDER: folder} if is_next else {})}
    name, link = (folder, "folder") if is_next else (PurePosixPath(path).name, "file")
    place = inert(f"{folder}/" if is_next else path)
    return ProposalDraft(
        KIND,
        name,
        text(f"own_file.{link}", language, path=place),
        text("own_file.why", language, link=session.removesuffix(".md")),
        facts=facts,
        holds=text("own_file.holds", language, key=_KEY),
    )


def _pattern(asked: Proposal) -> str:
    """The value for the setting."""
    folder = asked.facts.get(FOLDER)
    return f"{folder}/" if folder else escape(asked.facts[FILE])


def _folder(path: str) -> str:
    parent = PurePosixPath(path).parent.as_posix()
    return "" if parent == "." else parent
