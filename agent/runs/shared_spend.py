"""The daily limits count all machines of the person: each shows what it has spent today to the others.

By a reference on the remote, not in a note: a limit needs the figures of this hour, and a note would make a commit for
each. Only a remote to which nobody else writes is believed, as a stranger could use the day's money up with a number.
"""

import logging
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import AgentError
from agent.lazy import later
from agent.llm.ledger import SpendTotals
from agent.llm.spend_elsewhere import DaySpend, ledger_id, parse_spend, save_elsewhere
from agent.runs.status import SPEND, ledger_of
from agent.vault.provenance.remotes import plain_address
from agent.vault.sync.shared_values import SharedValues, is_paused
from agent.workspace.machine import open_claims
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.vault.sync.shared_claims import DatabaseValues, fleet_tables
    from agent.workspace.shared_place import shared_database
else:  # an extra
    DatabaseValues = later("agent.vault.sync.shared_claims", "DatabaseValues")
    fleet_tables = later("agent.vault.sync.shared_claims", "fleet_tables")
    shared_database = later("agent.workspace.shared_place", "shared_database")


logger = logging.getLogger(__name__)


class SpendSharing:
    """Shows what this machine has spent in one vault's remote, and takes in what the others show."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._values: SharedValues | None = None
        self._in_database: DatabaseValues | None = None

    def exchange(self) -> None:
        """Tell and hear once, if there is a remote for it; raises `AgentError` when it cannot be reached."""
        values = self._values_of_machines()
        if values is None:
            return
        ledger = ledger_of(self.workspace)
        day = ledger.today()
        self._tell(values, day, ledger.totals(day))

    def show_first(self, day: date, mine: SpendTotals) -> None:
        """Show what this machine will have spent before what others have is counted; without an answer of the database
        what was known last holds."""
        try:
            if (values := self._values_of_machines()) is not None:
                self._tell(values, day, mine)
        except AgentError as error:
            logger.info("what other machines have spent cannot be asked now: %s", error)

    def _tell(self, values: "SharedValues | DatabaseValues", day: date, spent: SpendTotals) -> None:
        """Show a day's cost on this machine, and record that on others."""
        folder = self.workspace.directories.state / SPEND
        own = DaySpend(ledger_id(folder, self.workspace.clock.new_id()), day, spent.calls, spent.tokens, spent.money)
        exchange_spend(values, self.workspace.vault.id, folder, own)

    def _values_of_machines(self) -> "SharedValues | DatabaseValues | None":
        """Where the machines show what they have spent; None if there is no place for it."""
        if self.workspace.settings.sync.claims == "postgres":
            if self._in_database is None:
                self._in_database = DatabaseValues(fleet_tables(shared_database(self.workspace)), SPEND)
            return self._in_database
        vault, remote = self.workspace.vault, open_claims(self.workspace).remote
        if remote is None or is_paused(vault):
            return None
        if not vault.provenance.answers.load().is_mine(plain_address(remote.address)):
            return None
        if self._values is None or self._values.remote.address != remote.address:
            self._values = SharedValues(vault, remote, SPEND)
        return self._values


def exchange_spend(values: "SharedValues | DatabaseValues", machine: str, folder: Path, own: DaySpend) -> None:
    """Show what this machine has spent, and record in the ledger's folder what others show; raises `AgentError`."""
    if own.calls:
        values.show(machine, own.written())
    others = (parse_spend(each) for each in values.others(machine).values())
    found = {each.ledger: each for each in others if each is not None and each.ledger != own.ledger}
    if found:
        save_elsewhere(folder, found)
