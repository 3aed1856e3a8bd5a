"""The daily limits count all machines of the person: each shows what it has spent today to the others.

By a reference on the remote, not in a note: a limit needs the figures of this hour, and a note would make a commit for
each. Only a remote to which nobody else writes is believed, as a stranger could use the day's money up with a number.
"""

from agent.llm.spend_elsewhere import DaySpend, ledger_id, parse_spend, save_elsewhere
from agent.runs.status import SPEND, ledger_of
from agent.vault.provenance.remotes import plain_address
from agent.vault.sync.shared_values import SharedValues, is_paused
from agent.workspace.machine import open_claims
from agent.workspace.workspace import Workspace


class SpendSharing:
    """Shows what this machine has spent in one vault's remote, and takes in what the others show."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._values: SharedValues | None = None

    def exchange(self) -> None:
        """Tell and hear once, if there is a remote for it; raises `AgentError` when it cannot be reached."""
        vault, remote = self.workspace.vault, open_claims(self.workspace).remote
        if remote is None or is_paused(vault):
            return
        if not vault.provenance.answers.load().is_mine(plain_address(remote.address)):
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
