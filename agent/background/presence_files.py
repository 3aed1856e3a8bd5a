"""The agent's state as the daemon wrote it last, and the orders that a person leaves for it: files, which other
processes read and write. `presence` keeps the state."""

import json
from typing import Literal, TypeAlias

from agent.config.private import make_folder, replace
from agent.schedule.agent_state import AgentState, load_state
from agent.vault.store import Vault

STATE, ORDER, TAKEN = "schedule/state.json", "schedule/order.json", "schedule/order-taken.json"
"""The file of the state, that of a person's order, and that of the order which the daemon carries out now, in the
vault's private folder."""
Order: TypeAlias = Literal["wake", "sleep"]
_LONGEST = 200


def give_order(vault: Vault, order: Order, reason: str) -> None:
    """Leave an order for the daemon of a vault; it takes the last one."""
    path = vault.private_folder / ORDER
    make_folder(path.parent)
    replace(path, json.dumps({"order": order, "reason": " ".join(reason.split())[:_LONGEST]}))


def take_order(vault: Vault) -> bytes | None:
    """The order that was left, from now on at `TAKEN` until `order_is_done`; None without one. An order that comes
    meanwhile stays for the next time."""
    taken = vault.private_folder / TAKEN
    try:
        (vault.private_folder / ORDER).replace(taken)
    except FileNotFoundError:
        return None
    return taken.read_bytes()


def order_is_done(vault: Vault) -> None:
    """Say that what was taken is carried out, or never will be."""
    (vault.private_folder / TAKEN).unlink(missing_ok=True)


def order_waits(vault: Vault) -> bool:
    """True from the moment when an order is left until it is carried out."""
    return any((vault.private_folder / name).exists() for name in (ORDER, TAKEN))  # in the order of their life


def state_of(vault: Vault) -> AgentState | None:
    """The state that the daemon wrote last; None without one."""
    return load_state(vault.private_folder / STATE)
