"""The agent's state as the daemon wrote it last, and the orders that a person leaves for it: files, which other
processes read and write. `presence` keeps the state."""

import json
from typing import Literal, TypeAlias

from agent.config.private import make_folder, replace
from agent.schedule.agent_state import AgentState, load_state
from agent.vault.store import Vault

STATE, ORDER = "schedule/state.json", "schedule/order.json"
"""The file of the state, and that of a person's order, in the vault's private folder."""
Order: TypeAlias = Literal["wake", "sleep"]
_LONGEST = 200


def give_order(vault: Vault, order: Order, reason: str) -> None:
    """Leave an order for the daemon of a vault; it takes the last one."""
    path = vault.private_folder / ORDER
    make_folder(path.parent)
    replace(path, json.dumps({"order": order, "reason": " ".join(reason.split())[:_LONGEST]}))


def state_of(vault: Vault) -> AgentState | None:
    """The state that the daemon wrote last; None without one."""
    return load_state(vault.private_folder / STATE)
