"""Which runs and days were looked at, and which runs are looked at now.

What this machine has reflected on is kept outside the vault: most of it teaches nothing, and then no note says that it
was looked at. Whether a run is worth it, follows from what became of it and what the person showed.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from agent.config.growth_settings import ReflectionSettings
from agent.dataclass import dataclass
from agent.growth.lessons.reflection import Occasion, Reflection, Trigger
from agent.records.table import Table
from agent.runs.reactions import CORRECTIONS, Reaction, ReactionKind
from agent.runs.run_course import RunCourse
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
    recent = (each for each in load_looks(vault) if look.at - each.at <= KEPT)
    _table(vault).put((*recent, look))


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


PENDING = timedelta(days=1)
"""How long a run that is over waits to be reflected on, such as while no model can be asked."""


def occasion_of(
    course: RunCourse,
    reactions: Sequence[Reaction],
    looks: Sequence[RunLook],
    settings: ReflectionSettings,
    now: datetime,
) -> Occasion | None:
    """On which occasion a run is looked at now, after the `looks` at it so far; None if it is not.

    A question about the answer is no sign that it was wrong, so that alone it counts only with the depth `all`.
    """
    if not looks:
        is_fresh = now - course.ended <= PENDING
        return "task" if is_fresh and is_worth_look(course, reactions, settings) else None
    if course.is_guests or "feedback" in {each.trigger for each in looks}:
        return None
    known = frozenset(kind for each in looks for kind in each.reactions)
    wanted = CORRECTIONS | ({"followed_up"} if settings.depth == "all" else frozenset())
    return "feedback" if (wanted - known).intersection(each.kind for each in reactions) else None


def is_worth_look(course: RunCourse, reactions: Sequence[Reaction], settings: ReflectionSettings) -> bool:
    """True if a run is worth a close look: it failed, was corrected, took long or many calls; with the depth `all` any.

    A run that ended before its model said anything teaches nothing: its model could not be asked. Neither does a
    guest's, as a guest shall not spend the owner's money by asking for what fails.
    """
    if not course.steps or (course.has_failed and not course.tokens):  # what stands there are quotations
        return False
    if settings.depth == "all":
        return True
    if course.is_guests:
        return False
    is_corrected = any(each.kind in CORRECTIONS for each in reactions)
    is_long = course.seconds >= settings.long_minutes * 60 or len(course.calls) >= settings.many_calls
    return course.has_failed or is_corrected or is_long
