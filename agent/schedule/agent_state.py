"""The agent's state as a value, and as a file outside the vault; `states` says how one becomes another."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import date, datetime
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from agent.config import private
from agent.config.private import make_folder
from agent.dataclass import dataclass
from agent.json_value import parse_json

State: TypeAlias = Literal["sleeping", "waking_up", "awake", "working", "going_to_sleep"]
STATES: tuple[State, ...] = get_args(State)
MOST_TRANSITIONS = 100


@dataclass(frozen=True, slots=True)
class Transition:
    """A change of state at a time, with its reason."""

    at: datetime
    before: State
    after: State
    reason: str


@dataclass(frozen=True, slots=True)
class AgentState:
    """The state, since when and why; `tasks_completed_today` counts from local midnight."""

    state: State
    since: datetime
    reason: str
    last_daily_reset: date
    last_wakeup: datetime | None = None
    last_sleep: datetime | None = None
    tasks_completed_today: int = 0
    transitions: tuple[Transition, ...] = ()

    def to(self, after: State, now: datetime, reason: str) -> "AgentState":
        """The next state."""
        moves = (*self.transitions, Transition(now, self.state, after, reason))[-MOST_TRANSITIONS:]
        return replace(self, state=after, since=now, reason=reason, transitions=moves)

    def on_day(self, now: datetime) -> "AgentState":
        """The state with a count of the day of `now`, in its own zone."""
        is_today = self.last_daily_reset == now.date()
        return self if is_today else replace(self, last_daily_reset=now.date(), tasks_completed_today=0)


def save_state(path: Path, state: AgentState) -> None:
    """Write the state into the file."""
    make_folder(path.parent)
    private.replace(path, json.dumps(asdict(state), default=_as_text, ensure_ascii=False))


def load_state(path: Path) -> AgentState | None:
    """The state that the daemon wrote last; None without one, or if the file is damaged."""
    return look_for_state(path)[0]


def look_for_state(path: Path) -> tuple[AgentState | None, bool]:
    """The state in a file, and whether the file is damaged."""
    try:
        return _parse(parse_json(path.read_bytes())), False
    except FileNotFoundError:
        return None, False
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None, True


def _parse(given: Mapping[str, object]) -> AgentState:
    moves = cast("list[Mapping[str, str]]", given["transitions"])
    return AgentState(
        _state(given["state"]),
        _moment(given["since"]),
        str(given["reason"]),
        date.fromisoformat(str(given["last_daily_reset"])),
        _moment(given["last_wakeup"]) if given["last_wakeup"] else None,
        _moment(given["last_sleep"]) if given["last_sleep"] else None,
        int(str(given["tasks_completed_today"])),
        tuple(
            Transition(_moment(each["at"]), _state(each["before"]), _state(each["after"]), str(each["reason"]))
            for each in moves
        ),
    )


def _state(value: object) -> State:
    found = next((each for each in STATES if each == value), None)
    if found is None:
        raise ValueError(value)
    return found


def _moment(value: object) -> datetime:
    at = datetime.fromisoformat(str(value))
    if at.tzinfo is None:
        raise ValueError(value)
    return at


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)
