"""Selects among the skills that fit a task: those that are wanted by name are given whole, within the token limit; of
the others a few are offered, none that was just used, and one of each exclusive group. Every decision has a reason.

Pure and deterministic: equal matches are ordered by priority, then by name.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import StrEnum

from agent.dataclass import dataclass
from agent.skills.reading.skill import Skill
from agent.texts import Sentence

MOST = 3
ROOM = 4_000
"""The most tokens of all active skills together."""


class MatchStatus(StrEnum):
    """The decision about a skill for a task.

    `ACTIVE`: its whole text is given, as the task names it, or as its header says `activation: always`. `OFFERED`: it
    may fit, and is named to the model, which opens what does.
    """

    ACTIVE = "active"
    OFFERED = "offered"
    UNREVIEWED = "unreviewed"
    PRESENT = "present"
    COOLING = "cooling"
    EXCLUDED = "excluded"
    CROWDED = "crowded out"
    BELOW = "below threshold"


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason for a skill.

    `type`: intent_pattern, tool_signal, context_keyword, context_slot, semantic, named, always, or except_pattern for
    an exception that cancels a pattern; `weight` is its part of the score, 0 to 1.
    """

    type: str
    detail: str
    weight: float


@dataclass(frozen=True, slots=True)
class Match:
    """A skill scored for a task.

    `base` is the sum of its signals, at most 1; `factor` comes from feedback; `score` is their product, at most 1.
    `slots` are known named values of the task that the skill names, and the type of task that it is for. `text` is what
    the model is given of it; `on_request` names the steps of a chain whose own text is not in it.
    """

    skill: Skill
    signals: tuple[Signal, ...]
    base: float
    factor: float
    score: float
    threshold: float
    status: MatchStatus = MatchStatus.ACTIVE
    why: str = ""
    slots: tuple[tuple[str, str], ...] = ()
    text: str = ""
    tokens: int = 0
    on_request: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillText:
    """The text of a skill for the model, and the steps of a chain that it has to open itself."""

    text: str
    tokens: int
    on_request: tuple[str, ...]


Compose = Callable[[Skill, int], SkillText]
"""Function from a skill and a number of tokens to its text; the steps of a chain fill up to this number."""


def order(match: Match) -> tuple[float, int, str, str]:
    """The sort key of matches: score, then priority, then name, then source."""
    return (-match.score, -match.skill.priority, match.skill.name, match.skill.source)


@dataclass(frozen=True, slots=True)
class SelectionLimits:
    """The most offered skills, and the tokens of all active ones together."""

    most: int = MOST
    room: int = ROOM


def select(fitting: Iterable[Match], since: Callable[[Skill], float | None], limits: SelectionLimits,
           compose: Compose) -> list[Match]:  # fmt: skip
    """Decide about every match, active or offered; `since` gives the seconds since a skill was used in this session,
    None for never. An active one is offered if its text does not fit; no rule of offers holds for it."""
    room = limits.room
    decided: list[Match] = []
    wanted = list[Match]()
    for match in sorted(fitting, key=order):
        placed = _placed(match, room, compose) if match.status is MatchStatus.ACTIVE else match
        room -= placed.tokens
        ago = since(match.skill)
        if placed.status is MatchStatus.ACTIVE:
            decided.append(placed)
        elif ago is not None and ago < match.skill.cooldown:
            rests = match.skill.cooldown
            wait = Sentence("used {ago:.0f} s ago in this session, and rests for {rests:.0f} s", ago=ago, rests=rests)
            decided.append(replace(match, status=MatchStatus.COOLING, why=wait))
        else:
            wanted.append(placed)
    winners, offered = _winners([*decided, *wanted]), 0
    for match in wanted:
        group = match.skill.exclusive_group
        winner = winners.get(group, match)
        if winner is not match:
            before = "{name} goes before it in the group {group} ({reason})"
            why = Sentence(before, name=winner.skill.name, group=group, reason=_beats(winner, match))
            decided.append(replace(match, status=MatchStatus.EXCLUDED, why=why))
        elif offered >= limits.most:
            why = Sentence("{count} skills with a higher score are offered", count=limits.most)
            decided.append(replace(match, status=MatchStatus.CROWDED, why=why))
        else:
            decided.append(match)
            offered += 1
    return sorted(decided, key=order)


def _winners(matches: Iterable[Match]) -> dict[str, Match]:
    """The match of each exclusive group that goes before the others: an active one, then by priority, score, name."""
    found: dict[str, Match] = {}
    possible = (each for each in matches if each.status is not MatchStatus.COOLING)
    for match in sorted(
        possible, key=lambda each: (each.status is not MatchStatus.ACTIVE, -each.skill.priority, *order(each))
    ):
        if match.skill.exclusive_group:
            found.setdefault(match.skill.exclusive_group, match)
    return found


def _beats(winner: Match, other: Match) -> Sentence:
    if winner.status is MatchStatus.ACTIVE:
        return Sentence("its text is given")
    if winner.skill.priority != other.skill.priority:
        return Sentence("priority {more} over {less}", more=winner.skill.priority, less=other.skill.priority)
    if winner.score != other.score:
        return Sentence("score {more:.2f} over {less:.2f}", more=winner.score, less=other.score)
    return Sentence("the same priority and score; by name")


def _placed(match: Match, room: int, compose: Compose) -> Match:
    """The match with its whole text; offered with the reason if that does not fit."""
    limit = min(match.skill.max_tokens or room, room)
    found = compose(match.skill, limit)
    if found.tokens <= limit:
        return replace(match, text=found.text, tokens=found.tokens, on_request=found.on_request)
    why = Sentence(
        "its text of {tokens:,} tokens does not fit in its max_tokens, {limit:,}"
        if limit < room
        else "its text of {tokens:,} tokens does not fit in the {limit:,} that are left for skills",
        tokens=found.tokens,
        limit=max(limit, 0),
    )
    return replace(match, status=MatchStatus.OFFERED, why=why)
