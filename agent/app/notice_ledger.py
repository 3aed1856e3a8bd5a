"""Opens the ledger of a vault's notices, for what only reads it; `notices` builds the outbox."""

from agent.attention.receipts import NoticeLedger
from agent.workspace.workspace import Workspace


def open_ledger(workspace: Workspace) -> NoticeLedger:
    """The ledger of this machine's notices; raises `Permanent` if it cannot be used."""
    return NoticeLedger(workspace.vault.records, workspace.clock)
