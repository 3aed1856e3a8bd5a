"""Rounds of sync with what belongs to them: first the person's answers are carried out, then they are asked about what
is new. The same for the daemon and for `vault-agent sync`."""

import logging
from collections.abc import Callable, Iterator, Sequence

from agent.errors import AgentError
from agent.runs.sync_questions import (
    Allowed,
    adopt_questions,
    ask_about_conflicts,
    ask_about_remotes,
    settle_questions,
)
from agent.vault.sync.permission import RemotePermission
from agent.vault.sync.round import RoundEnd, RoundReport
from agent.vault.sync.rounds import rounds
from agent.vault.sync.state import SyncedRemote
from agent.vault.waiting import commit_waiting
from agent.workspace.workspace import Workspace

NOTHING = RemotePermission()
logger = logging.getLogger(__name__)


def rounds_with_questions(
    workspace: Workspace,
    remotes: Sequence[SyncedRemote],
    allowed: RemotePermission = NOTHING,
    step: Callable[[str], object] = lambda step: None,
    progress: Callable[[int, int], object] = lambda done, of: None,
    is_patient: bool = False,
) -> Iterator[RoundReport]:
    """One round with each remote, allowed what the person has answered about it or, if they say it now, `allowed`.

    What is asked afterwards is sent too: another round then follows with the remotes that were in step. What waits for
    the evening is sent in the evening, but at once if the person has asked for the round (it is not `is_patient`).
    """
    vault = workspace.vault
    if not is_patient:
        commit_waiting(vault)
    answered = {each.remote: each.permission for each in _settled(workspace)} if allowed == NOTHING else {}
    in_step = []
    for report in rounds(vault, remotes, allowed, step, progress, answered=answered, is_patient=is_patient):
        if report.end is RoundEnd.SYNCED:
            in_step.append(report.remote)
        yield report
    head = vault.head
    _settled(workspace)  # what is over by now is closed
    _ask(workspace)
    if vault.head != head:
        again = [each for each in remotes if each.name in in_step]
        yield from rounds(vault, again, NOTHING, step, progress, is_patient=is_patient)


def _ask(workspace: Workspace) -> None:
    """Ask about what is new; what cannot be written now is asked about after the next round."""
    try:
        ask_about_remotes(workspace)
        ask_about_conflicts(workspace)
        adopt_questions(workspace)
    except AgentError as error:
        logger.info("questions about sync: %s", error.message)


def _settled(workspace: Workspace) -> tuple[Allowed, ...]:
    """The person's permissions for remotes since the last round."""
    try:
        return settle_questions(workspace)
    except AgentError as error:
        logger.info("questions about sync: %s", error.message)
        return ()
