"""Is this file yours? The person is asked once, when the agent has read a file that they have put into their vault.

Such a file may come from anybody, so that after reading it much waits for a yes. A yes adds the file to the setting
`attachments.mine`; once one file of a folder is theirs, the next question is about the folder; after a no nothing of
that folder is asked about again.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from glob import escape
from pathlib import Path, PurePosixPath

from agent.asking.answers import propose, settle
from agent.asking.proposal import Proposal, ProposalDraft, ProposalKind, ProposalStatus
from agent.asking.records import proposals_of
from agent.config.edit import set_machine
from agent.config.load import load_vault_settings
from agent.dataclass import dataclass
from agent.errors import AgentError, NoteGone
from agent.events.runs import TaskCompleted
from agent.loop.records import Began, sources_in
from agent.loop.session import load_session
from agent.memory.daily import inert
from agent.texts import text
from agent.tools.text_origin import saved_file_in, still_strangers, text_origin_of
from agent.vault.change import Request, Stamp
from agent.vault.folders import SESSIONS
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.find import commits
from agent.vault.provenance.foreign_record import SAVED_FILE
from agent.vault.provenance.own_runs import OwnRun, add_own_runs
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
        began = next((each.event for each in reversed(session.records) if isinstance(each.event, Began)), None)
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
        """Write the setting, and take what came from the person's files alone for theirs; nothing is written into the
        vault."""
        vault, named = self.workspace.vault, _pattern(decided)
        loaded = load_vault_settings(vault.place.root, vault_id=vault.id)
        present = loaded.settings.attachments.mine
        if decided.status == "approved" and named not in map(str.strip, present.split(",")):
            set_machine(_KEY, ", ".join(filter(None, (present.strip(" ,"), named))), vault_id=vault.id)
        if decided.status == "approved":
            add_own_runs(vault.records, list(_runs_with_own_files(vault)))
        return ()


def _runs_with_own_files(vault: Vault) -> Iterator[OwnRun]:
    """The runs of this machine's conversations in which files that are all the person's were read; none that can go on,
    as it may read others yet."""
    for path in vault.note_paths(vault.home.at(SESSIONS)):
        data = vault.read(path) or b""
        if SAVED_FILE.encode() not in data or vault.provenance.strangers(path, data):
            continue
        with suppress(NoteGone):  # its header is damaged, or it was deleted just now
            session = load_session(vault, path)
            sources, going_on = sources_in(session.records), session.open_run
            files = tuple(filter(None, map(saved_file_in, sources)))
            left = {*still_strangers(vault, sources)}
            if files and not any(each.endswith(f"(from {SAVED_FILE})") for each in left):
                runs = {each.event.run for each in session.records if isinstance(each.event, Began)}
                yield from (OwnRun(each, files) for each in runs - {going_on.run if going_on is not None else ""})


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
