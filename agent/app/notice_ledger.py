"""Opens the ledger of a vault's notices, for what only reads it; `notices` builds the outbox."""

from agent.attention.receipts import NoticeLedger
from agent.vault.layout import NOTICES
from agent.workspace.workspace import Workspace


def open_ledger(workspace: Workspace) -> NoticeLedger:
    """The ledger of this machine's notices; raises `Permanent` if it cannot be used."""
    durable = workspace.settings.git.durable
    return NoticeLedger(workspace.vault.private_folder / NOTICES, workspace.clock, durable=durable)
