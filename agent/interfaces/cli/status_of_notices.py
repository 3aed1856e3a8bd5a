"""The notices that wait, as `status` shows them."""

from importlib import import_module

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.interfaces.cli.language import counted, row, said
from agent.vault.layout import NOTICES
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class NoticesStatus:
    """How many notices are held, and how many no channel has delivered yet; `problem`: the ledger cannot be read."""

    held: int = 0
    undelivered: int = 0
    problem: str = ""


def notices_status(workspace: Workspace) -> NoticesStatus:
    """Read from the ledger; changes nothing."""
    if not (workspace.vault.private_folder / NOTICES).exists():
        return NoticesStatus()
    try:
        receipts = import_module("agent.app.notice_ledger").open_ledger(workspace).all()
    except AgentError as error:
        return NoticesStatus(problem=error.message)
    held = sum(each.decision.decided == "held" for each in receipts)
    return NoticesStatus(held, sum(each.is_undelivered for each in receipts))


def format_notices_status(found: NoticesStatus) -> list[str]:
    """A line when something waits; none otherwise."""
    parts = [counted(found.held, "1 is held", "{count} are held")] if found.held else []
    if found.undelivered:
        parts.append(counted(found.undelivered, "1 is not delivered yet", "{count} are not delivered yet"))
    if found.problem:
        return [row("notices", said(found.problem))]
    told = said("; ").join(parts)
    return [row("notices", said("{told}: vault-agent notices list", told=told))] if parts else []
