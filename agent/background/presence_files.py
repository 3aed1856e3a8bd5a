"""The agent's state as the daemon wrote it last, and the orders that a person leaves for it, for other processes.
`presence` keeps the state."""

from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.records.table import Table
from agent.schedule.agent_state import AgentState, state_table
from agent.vault.store import Vault

Wish: TypeAlias = Literal["wake", "sleep"]
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class PresenceOrder:
    """An order of a person, and its reason."""

    order: Wish
    reason: str


def give_order(vault: Vault, order: Wish, reason: str) -> None:
    """Leave an order for the daemon of a vault; it takes the last one."""
    _left(vault).put(PresenceOrder(order, " ".join(reason.split())[:_LONGEST]))


def take_order(vault: Vault) -> PresenceOrder | None:
    """The order that was left, from now on a taken one until `order_is_done`; None without one. An order that comes
    meanwhile stays for the next time."""
    if not _left(vault).has():  # each turn asks, and mostly there is none
        return None
    with vault.records.transaction():
        order = _left(vault).get()
        _left(vault).drop()
        if order is not None:
            _taken(vault).put(order)
    return order


def order_is_done(vault: Vault) -> None:
    """Say that what was taken is carried out, or never will be."""
    _taken(vault).drop()


def order_waits(vault: Vault) -> bool:
    """True from the moment when an order is left until it is carried out."""
    return _left(vault).has() or _taken(vault).has()  # in the order of their life


def state_of(vault: Vault) -> AgentState | None:
    """The state that the daemon wrote last; None without one."""
    return state_table(vault.records).get()


def _left(vault: Vault) -> Table[PresenceOrder]:
    return Table(vault.records, "order", PresenceOrder, is_flushed=False)


def _taken(vault: Vault) -> Table[PresenceOrder]:
    return Table(vault.records, "order-taken", PresenceOrder, is_flushed=False)
