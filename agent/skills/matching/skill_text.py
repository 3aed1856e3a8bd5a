"""The texts of skills for the model: a whole skill, and the index of all.

A text is never cut: half of the instructions for a piece of work are worse than none.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum

from agent.dataclass import dataclass
from agent.markdown.title import clipped
from agent.skills.matching.tool_allowlist import ALWAYS, allowance
from agent.skills.matching.workflow import ComposedText, TokenCounter, compose_workflow
from agent.skills.reading.skill import FindSkill, Skill
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


HEADING = "## Skill: "
"""The beginning of a skill's text, before its name."""
_INDEX_LINE = 160
"""The most characters of what a skill does in its line of the index, and of when to use it."""
_USE_WHEN = re.compile(
    r"\b(?:use[ds]?|using|activates?|triggers?|invoked?)\b[^.!?]{0,30}?\b(?:when|whenever|if|for)\b"
    r"|\bwhen (?:you|the user|the person|someone|somebody|asked|working|claude)\b"
    r"|(?:当|在)[^。；]{1,60}(?:时|的时候)|适用于|用于|用来",
    re.IGNORECASE,
)
"""Where a description says when its skill is to be used."""
_INDEX_HEAD = "Skills: instructions for one kind of work each; open one with skills (show) before doing such work:"
_LISTED_FILES = 40


def compose_text(skill: Skill, find: FindSkill, room: int, count: TokenCounter) -> SkillText:
    """The text of a skill; a chain's text has the steps that fit in `room` tokens."""
    around = count(_whole(skill, ""))
    made = compose_workflow(skill, find, room - around, count) if skill.chain else ComposedText(skill.body)
    text = _whole(skill, made.text)
    return SkillText(text, count(text), made.on_request)


def reminder(skill: Skill) -> str:
    """The text for a skill whose instructions the model still has from an earlier task of the session."""
    return f"{_head(skill)}\nThey stand further up."


def has_text(skill: Skill, texts: Sequence[str]) -> bool:
    """True if the skill's own instructions are in one of the texts."""
    return bool(skill.body) and any(skill.body in each for each in texts)


def names_skill(task: str, skill: Skill) -> bool:
    """True if a task names a skill: `meeting-notes`, or with the word beside it "the skill tea"."""
    name = re.escape(skill.name)
    loose = name.replace(r"\-", "[- ]")
    as_word = rf"(?<![a-z0-9_/\[-]){name}(?![a-z0-9_/\]-]|\.\w)" if "-" in skill.name else ""
    beside = rf"(?:\bskill|技能)[:：]?\s*[\"'“`]?{loose}(?![a-z0-9_])|(?<![a-z0-9_]){loose}[\"'”`]?\s*(?:skill\b|技能)"
    return re.search("|".join(filter(None, (as_word, beside))), task, re.IGNORECASE) is not None


def _whole(skill: Skill, body: str) -> str:
    return "\n\n".join(filter(None, [_head(skill), body, format_files(skill)]))


def _head(skill: Skill) -> str:
    lines = [
        f"{HEADING}{skill.name}",
        "Follow its steps where they serve what was asked, which comes first.",
    ]
    if (allowed := allowance([skill])) is not None:
        lines.append(f"Only these tools may be called: {', '.join(sorted(allowed.words | ALWAYS))}")
    if skill.prerequisites:
        lines.append(f"Do first: {', '.join(f'`{name}` (skills: show {name})' for name in skill.prerequisites)}")
    if skill.product is not None and skill.product.format:
        kind = skill.product.artifact_type or "note"
        lines.append(
            f"Give the result as {skill.product.format}{f', in a {kind} of its own' * skill.product.artifacts}."
        )
    return "\n".join(lines)


def format_files(skill: Skill) -> str:
    """The files of a skill in one line; empty if it has none."""
    if not skill.files:
        return ""
    more = f" and {len(skill.files) - _LISTED_FILES} more" if len(skill.files) > _LISTED_FILES else ""
    named = ", ".join(f"`{path}`" for path in skill.files[:_LISTED_FILES])
    return f"Files of this skill, to be read with skills (show; none of them is ever run by itself): {named}{more}"


@dataclass(frozen=True, slots=True)
class SkillIndex:
    """The index of skills for the model, and the names of the skills in it."""

    text: str = ""
    names: tuple[str, ...] = ()
    tokens: int = 0


def use_when(description: str) -> str:
    """The part of a description that says when to use the skill, to its end; empty if it does not say so."""
    found = _USE_WHEN.search(description)
    return description[found.start() :] if found is not None else ""


def _index_line(summary: str) -> str:
    """A description, cut in what the skill does and in when to use it, but never before it says when."""
    when = use_when(summary)
    what = summary[: len(summary) - len(when)]
    if len(summary) <= _INDEX_LINE or not when:
        return clipped(summary, _INDEX_LINE)
    return f"{clipped(what.strip(), _INDEX_LINE)} {clipped(when, _INDEX_LINE)}".strip()


def skill_index(skills: Iterable[Skill], near: Sequence[str], room: int, count: TokenCounter) -> SkillIndex:
    """These skills, one line each, in at most `room` tokens; unreviewed ones are left out. Empty if not one fits.

    They stand in the order of their names, whatever the task: a list that changes is read anew by the model, with all
    that follows it. Where not all fit, those whose keys are in `near` have a place before the others.
    """
    rank = {key: at for at, key in enumerate(near)}
    others = [skill for skill in skills if skill.reviewed]
    others.sort(key=lambda each: (rank.get(each.key, len(rank)), each.name))
    line = {each.key: f"- `{each.name}`: {_index_line(each.summary)}" for each in others}
    for most in range(len(others), 0, -1):
        chosen = sorted(others[:most], key=lambda each: each.name)
        lines = [line[skill.key] for skill in chosen]
        rest = [f"and {len(others) - most} more: skills (list)"] if most < len(others) else []
        text = "\n".join([_INDEX_HEAD, *lines, *rest])
        if (tokens := count(text)) <= room:
            return SkillIndex(text, tuple(skill.name for skill in chosen), tokens)
    return SkillIndex()
