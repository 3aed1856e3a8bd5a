"""Selects among the skills that fit a task: none that was just used, one of each exclusive group, the best few, within
the token limit. Every decision has a reason.

Pure and deterministic: equal matches are ordered by priority, then by name.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from agent.skills.matching.truncate import Truncated
from agent.skills.reading.skill import Skill

MOST = 3
ROOM = 4_000
"""The most tokens of all active skills together."""
LEAST = 80
"""Tokens below which a skill's text is left out completely."""


class MatchStatus(StrEnum):
    """The decision about a skill for a task."""

    ACTIVE = "active"
    REFERENCE = "reference"
    UNREVIEWED = "unreviewed"
    PRESENT = "present"
    COOLING = "cooling"
    EXCLUDED = "excluded"
    CROWDED = "crowded out"
    NO_ROOM = "no room"
    BELOW = "below threshold"


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason for a skill.

    `type`: intent_pattern, tool_signal, context_keyword, context_slot, semantic, or except_pattern for an exception
    that cancels a pattern; `weight` is its part of the score, 0 to 1.
    """

    type: str
    detail: str
    weight: float


@dataclass(frozen=True, slots=True)
class Match:
    """A skill scored for a task.

    `base` is the sum of its signals, at most 1; `factor` comes from feedback; `score` is their product, at most 1.
    `text` is the text of an active skill shown to the model.
    """

    skill: Skill
    signals: tuple[Signal, ...]
    base: float
    factor: float
    score: float
    threshold: float
    status: MatchStatus = MatchStatus.ACTIVE
    why: str = ""
    text: str = ""
    tokens: int = 0
    left_out: tuple[str, ...] = ()


Shorten = Callable[[Skill, int], Truncated]
"""Function from a skill and a number of tokens to its text within that limit."""


def order(match: Match) -> tuple[float, int, str, str]:
    """The sort key of matches: score, then priority, then name, then source."""
    return (-match.score, -match.skill.priority, match.skill.name, match.skill.source)


@dataclass(frozen=True, slots=True)
class SelectionLimits:
    """The most active skills, and the tokens of all of them together."""

    most: int = MOST
    room: int = ROOM


def select(fitting: Iterable[Match], since: Callable[[Skill], float | None], limits: SelectionLimits,
            shorten: Shorten) -> list[Match]:  # fmt: skip
    """Decide about every match; `since` gives the seconds since a skill was used in this session, None for never."""
    decided: list[Match] = []
    left: list[Match] = []
    for match in sorted(fitting, key=order):
        ago = since(match.skill)
        if ago is not None and ago < match.skill.cooldown:
            wait = f"used {ago:.0f} s ago in this session, and rests for {match.skill.cooldown:.0f} s"
            decided.append(replace(match, status=MatchStatus.COOLING, why=wait))
        else:
            left.append(match)
    winners = _winners(left)
    room, used = limits.room, 0
    for match in left:
        group = match.skill.exclusive_group
        winner = winners.get(group)
        if winner is not None and winner is not match:
            why = f"{winner.skill.name} goes before it in the group {group} ({_beats(winner, match)})"
            decided.append(replace(match, status=MatchStatus.EXCLUDED, why=why))
        elif used >= limits.most:
            decided.append(
                replace(match, status=MatchStatus.CROWDED, why=f"{limits.most} skills with a higher score are used")
            )
        else:
            placed = _placed(match, room, shorten)
            decided.append(placed)
            used += placed.status is MatchStatus.ACTIVE
            room -= placed.tokens
    return sorted(decided, key=order)


def _winners(matches: Iterable[Match]) -> dict[str, Match]:
    """The selected match of each exclusive group: by priority, then by score, then by name."""
    found: dict[str, Match] = {}
    for match in sorted(matches, key=lambda each: (-each.skill.priority, *order(each))):
        if match.skill.exclusive_group:
            found.setdefault(match.skill.exclusive_group, match)
    return found


def _beats(winner: Match, other: Match) -> str:
    if winner.skill.priority != other.skill.priority:
        return f"priority {winner.skill.priority} over {other.skill.priority}"
    if winner.score != other.score:
        return f"score {winner.score:.2f} over {other.score:.2f}"
    return "the same priority and score; by name"


def _placed(match: Match, room: int, shorten: Shorten) -> Match:
    """The match with its text, or with the reason if there is no room for it."""
    own = match.skill.max_tokens or room
    part = shorten(match.skill, min(own, room))
    if part.tokens > room or (not part.whole and room < min(own, LEAST)):
        return replace(match, status=MatchStatus.NO_ROOM, why=f"{max(room, 0)} tokens are left for skills")
    limit = f"its max_tokens, {own}" if own <= room else f"the {room} tokens that are left for skills"
    why = "" if part.whole else f"cut to {limit}"
    return replace(match, text=part.text, tokens=part.tokens, why=why, left_out=part.left_out)
