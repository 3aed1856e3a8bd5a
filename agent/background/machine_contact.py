"""Keeps the machines with one vault in touch: this one's note once a day, and what each has spent.

A vault without a remote has none of it.
"""

import logging
from dataclasses import field
from datetime import date

from agent.background.routine import LookEvery, Routine
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.llm.spend_elsewhere import DaySpend, ledger_id, parse_spend, save_elsewhere
from agent.runs.machines import note_machine
from agent.runs.status import SPEND, ledger_of
from agent.vault.provenance.remotes import plain_address
from agent.vault.sync.shared_values import SharedValues, is_paused
from agent.workspace.machine import open_claims
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class MachineContact:
    """The contact of one daemon with the other machines."""

    workspace: Workspace
    _values: SharedValues | None = field(default=None, init=False)
    _cleaned: date | None = field(default=None, init=False)

    def routine(self) -> Routine:
        """A look every ten minutes; each costs two questions to the remote."""
        return Routine(
            "other machines", lambda *_: self.look(), looks=(LookEvery(600.0, self._has_remote),), key="machines"
        )

    def _has_remote(self) -> bool:
        return open_claims(self.workspace).remote is not None

    def look(self) -> None:
        """Write this machine's note, tell and hear what was spent, and remove old claims once a day."""
        claims, today = open_claims(self.workspace), self.workspace.clock.now().date()
        try:
            note_machine(self.workspace, has_daemon=True)
            self.share_spend()
            if self._cleaned != today:
                claims.clean()
                self._cleaned = today
        except (AgentError, OSError) as error:
            logger.info("the other machines cannot be told now: %s", error)

    def _is_believed(self, address: str) -> bool:
        vault = self.workspace.vault
        return not is_paused(vault) and vault.provenance.answers.load().is_mine(plain_address(address))

    def share_spend(self) -> None:
        """Show the other machines what was spent here today, and record what they show: the daily limits count all.

        By a reference on the remote, not in a note: a limit needs the figures of this hour, and a note would make a
        commit for each. Only a remote to which nobody else writes is believed, as a stranger could use the day's money
        up with a number. Raises `AgentError` when the remote cannot be reached.
        """
        vault, remote = self.workspace.vault, open_claims(self.workspace).remote
        if remote is None or not self._is_believed(remote.address):
            return
        if self._values is None or self._values.remote.address != remote.address:
            self._values = SharedValues(vault, remote, SPEND)
        folder = self.workspace.directories.state / SPEND
        own = ledger_id(folder, self.workspace.clock.new_id())
        ledger = ledger_of(self.workspace)
        day = ledger.today()
        spent = ledger.totals(day)
        if spent.calls:
            self._values.show(vault.id, DaySpend(own, day, spent.calls, spent.tokens, spent.money).written())
        parsed = (parse_spend(each) for each in self._values.others(vault.id).values())
        found = {each.ledger: each for each in parsed if each is not None and each.ledger != own}
        if found:
            save_elsewhere(folder, found)
