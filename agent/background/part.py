"""A part of the daemon: which events it hears, when it wants a turn, and what does not work in it."""

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Generic, Protocol, TypeVar

from agent.background.pool import Pool
from agent.dataclass import dataclass
from agent.events.bus import Bus
from agent.events.notices import NoticeRaised
from agent.events.runs import ProposalDecided, TaskCompleted
from agent.events.types import DaemonStarted, EditsCommitted, EditsStopped, FilesChanged, Tick, TurnEnded
from agent.loop.outcome import Ended
from agent.markdown.changes import NoteChange

E = TypeVar("E")

FIRST, LAST = 100, -100
"""The priorities of the parts before and after all other subscribers of the bus."""
PACE = 3.0
"""Seconds after which a part looks for what no event has told it: an idle daemon mostly turns without any part."""
_NAMES: dict[type, str] = {
    DaemonStarted: "start",
    FilesChanged: "files",
    Tick: "tick",
    TurnEnded: "turn over",
    EditsCommitted: "edits",
    EditsStopped: "edits stopped",
    TaskCompleted: "run over",
    Ended: "run over",
    ProposalDecided: "decided",
    NoticeRaised: "raised",
    object: "any event",
}


@dataclass(frozen=True, slots=True)
class Hears(Generic[E]):
    """A kind of event, with the function that is called for each, but not for those of the types `but`."""

    kind: type[E]
    handler: Callable[[E], None]
    but: tuple[type, ...] = ()


def no_turn(now: float) -> float:
    """A part that only hears events rests for ever."""
    return float("inf")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the daemon. `turn` does what is due at a time of the monotonic clock, and returns for how many seconds
    it may rest, unless it hears something; `problem` returns what does not work in one line, empty if all does."""

    name: str
    hears: tuple[Hears[Any], ...] = ()
    turn: Callable[[float], float] = no_turn
    problem: Callable[[], str] = lambda: ""


class Owner(Protocol):
    """An object with the state of a part; its members are as for `Part`."""

    @property
    def problem(self) -> str: ...

    def turn(self, now: float, /) -> float: ...


def part_of(
    name: str,
    owner: Owner,
    *more: Hears[Any],
    start: Callable[[DaemonStarted], None] | None = None,
    files: Callable[[FilesChanged[NoteChange]], None] | None = None,
    ended: Callable[[Ended], None] | None = None,
) -> Part:
    """The part that is kept by this owner, with what hears the start, changes of files and ends of runs."""
    usual: tuple[tuple[type, Any], ...] = (DaemonStarted, start), (FilesChanged, files), (Ended, ended)
    heard = (Hears(kind, handler) for kind, handler in usual if handler is not None)
    return Part(name, (*heard, *more), owner.turn, lambda: owner.problem)


@dataclass(slots=True, eq=False)
class _Pace:
    """When a part has its next turn."""

    part: Part
    has_moved: bool = True
    """True if it has done anything since that was set to False."""
    _rests_until: float = 0.0

    def tick(self, event: Tick) -> None:
        if event.now < self._rests_until:
            return
        self._rests_until, self.has_moved = 0.0, False
        rest = self.part.turn(event.now)
        if not self.has_moved:  # else it has heard something meanwhile
            self._rests_until = event.now + rest
        self.has_moved = True

    def woken_by(self, hears: Hears[Any]) -> Hears[Any]:
        """The same events, of which each ends the rest; but the end of a turn comes too often for that."""

        def heard(event: object) -> None:
            hears.handler(event)
            self._rests_until, self.has_moved = 0.0, True

        return hears if hears.kind is TurnEnded else Hears(hears.kind, heard, hears.but)


@dataclass(slots=True, eq=False)
class PartTable:
    """The parts of one daemon: an event reaches them in their order, those in `last` after all other subscribers."""

    pool: Pool
    first: Sequence[Part] = ()
    last: Sequence[Part] = ()
    _paces: list[_Pace] = field(default_factory=list, init=False)
    _problems: dict[str, str] = field(default_factory=dict, init=False)

    def subscribe(self, bus: Bus) -> None:
        """Subscribe what the parts hear. They follow file changes and have no time limit, and so are called on the
        daemon's own thread."""
        for priority, parts in ((FIRST, self.first), (LAST, self.last)):
            for part in parts:
                self._subscribe(bus, part, priority)

    def _subscribe(self, bus: Bus, part: Part, priority: int) -> None:
        pace = _Pace(part)
        self._paces.append(pace)
        ticks = () if part.turn is no_turn else (Hears(Tick, pace.tick),)
        for each in (*map(pace.woken_by, part.hears), *ticks):
            name = f"{_NAMES.get(each.kind, each.kind.__name__)}: {part.name}"
            bus.subscribe(each.handler, each.kind, name=name, priority=priority, timeout=None, but=each.but)

    def problems(self) -> dict[str, str]:
        """The problem of each part, by its name; empty for a part that works."""
        work = self.pool.state
        is_busy = bool(work.running or work.waiting)
        for each in self._paces:
            if is_busy or each.has_moved:
                each.has_moved = is_busy
                self._problems[each.part.name] = each.part.problem()
        return dict(self._problems)
