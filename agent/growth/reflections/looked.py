"""Which runs and days this machine has reflected on, outside the vault: most of them teach nothing, and then no note
says that they were looked at."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from agent.dataclass import dataclass
from agent.growth.reflections.reflection import Reflection, Trigger
from agent.records.table import Table
from agent.runs.reactions import ReactionKind
from agent.vault.store import Vault

KEPT = timedelta(days=4)
"""How long a look is remembered: longer than a run waits for one."""


@dataclass(frozen=True, slots=True)
class RunLook:
    """One look at a run, or at a day (`run` is its date then): the reactions that were known, and whether the model's
    answer could be read. A day that has nothing to show is over without a model that `is_asked`."""

    run: str
    at: datetime
    trigger: Trigger
    reactions: tuple[ReactionKind, ...] = ()
    is_unread: bool = False
    is_asked: bool = True


@dataclass(frozen=True, slots=True)
class UnreadAnswers:
    """So many answers in a row could not be read, the first one `since` then."""

    since: datetime
    count: int


def load_looks(vault: Vault) -> tuple[RunLook, ...]:
    """The looks of the last days, the oldest first; nothing where that is damaged."""
    return _table(vault).get() or ()


def note_look(vault: Vault, look: RunLook) -> None:
    """Remember a look."""
    kept = (each for each in load_looks(vault) if look.at - each.at <= KEPT)
    _table(vault).put((*kept, look))


def looks_at(vault: Vault, run: str, written: Sequence[Reflection]) -> tuple[RunLook, ...]:
    """The looks at a run, also those of other machines, as far as they have `written` something down."""
    noted = (RunLook(run, each.at, each.trigger, each.reactions) for each in written if run in each.runs)
    found = (*(each for each in load_looks(vault) if each.run == run), *noted)
    return tuple(each for each in found if each.trigger in ("task", "feedback"))


def unread_answers(vault: Vault) -> UnreadAnswers | None:
    """The trouble that no answer can be read: the looks since the last one that could; None without any."""
    looks = [each for each in load_looks(vault) if each.is_asked]
    read = max((at for at, each in enumerate(looks) if not each.is_unread), default=-1)
    unread = looks[read + 1 :]
    return UnreadAnswers(unread[0].at, len(unread)) if unread else None


def _table(vault: Vault) -> Table[tuple[RunLook, ...]]:
    return Table(vault.records, "reflected", tuple[RunLook, ...], is_flushed=False)
