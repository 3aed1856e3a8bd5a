"""Scores skills for a task: signals with fixed weights, each of them reported.

1. Intent, 0.5: a pattern of the skill (or all patterns of a group) matches the task, and no exception does.
2. Context: 0.25 for each of its tools that was used lately, 0.15 times the share of its keywords in the task, 0.1 for
   each slot with one of its values. For learned skills also the similarity of the task and their conditions, for those
   without triggers to their descriptions.
3. Feedback multiplies the sum; `skill_text` decides between the skills that reach their thresholds: they are offered.
   One that the task names, or that is always wanted, is given whole, whatever its signals.

Pure: all measured or stored values come in a `MatchState`.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType

from agent.dataclass import dataclass
from agent.skills.loading.library import SkillSnapshot
from agent.skills.matching.skill_text import (
    Match,
    MatchStatus,
    SelectionLimits,
    Signal,
    compose_text,
    names_skill,
    order,
    select,
)
from agent.skills.matching.workflow import TokenCounter
from agent.skills.reading.patterns import excerpt, normalize, pattern_hits, searchable
from agent.skills.reading.skill import Skill, Triggers, parts_of
from agent.texts import Sentence

INTENT, TOOL, KEYWORDS, SLOT = 0.5, 0.25, 0.15, 0.1
SEMANTIC = 0.6
"""The similarity (calibrated by `similarity`) from which a learned skill is offered."""
USUAL = SelectionLimits()
_DIGITS = 4
_FITTING = frozenset({MatchStatus.ACTIVE, MatchStatus.OFFERED})
_NO_NUMBERS: Mapping[str, float] = MappingProxyType({})
_NO_TEXTS: Mapping[str, str] = MappingProxyType({})
_NO_SKILLS: Mapping[str, Skill] = MappingProxyType({})
TASK_TYPE = "task_type"
"""The slot for the type of a task; a skill names the types that it is for, the usual one first."""


@dataclass(frozen=True, slots=True)
class MatchTask:
    """A task: its text, the tools used lately, and its known named values."""

    text: str
    tools: tuple[str, ...] = ()
    slots: Mapping[str, str] = field(default_factory=lambda: _NO_TEXTS)


@dataclass(frozen=True, slots=True)
class MatchState:
    """Data about skills.

    `since`: by name, the seconds since a skill's last use in this session. `factors`: by name, the feedback factor
    (default 1). `near`: by key, the similarity of the task and the skill's conditions or description, 0 to 1.
    `present`: the names of skills already in the model's context. `versions`: by name, the variant that is given in
    place of a skill; it has the skill's own triggers.
    """

    since: Mapping[str, float] = field(default_factory=lambda: _NO_NUMBERS)
    factors: Mapping[str, float] = field(default_factory=lambda: _NO_NUMBERS)
    near: Mapping[str, float] = field(default_factory=lambda: _NO_NUMBERS)
    present: frozenset[str] = frozenset()
    versions: Mapping[str, Skill] = field(default_factory=lambda: _NO_SKILLS)


@dataclass(frozen=True, slots=True)
class Matched:
    """Every skill with a signal, best first."""

    matches: tuple[Match, ...]

    def of(self, status: MatchStatus) -> tuple[Match, ...]:
        """The matches with this status."""
        return tuple(match for match in self.matches if match.status is status)

    @property
    def active(self) -> tuple[Match, ...]:
        """The skills whose whole text is shown to the model."""
        return self.of(MatchStatus.ACTIVE)

    @property
    def offered(self) -> tuple[Match, ...]:
        """The skills that are named to the model, to be opened if they fit."""
        return self.of(MatchStatus.OFFERED)


def match(
    task: MatchTask, snapshot: SkillSnapshot, state: MatchState, count: TokenCounter, limits: SelectionLimits = USUAL
) -> Matched:
    """Score every skill for a task and select those to use."""
    searched = _SearchedTask(
        task.text,
        pattern_hits(snapshot.patterns, searchable(task.text)),
        normalize(excerpt(task.text).lower()),
        frozenset(task.tools),
        task.slots,
    )
    candidates = [_version(skill, state) for skill in snapshot.candidates]
    scored = [found for skill in candidates if (found := _score(skill, searched, state)) is not None]
    trusted = [_check_reviewed(each, snapshot) if each.status in _FITTING else each for each in scored]
    fitting = [each for each in trusted if each.status in _FITTING]
    others = [each for each in trusted if each.status not in _FITTING]
    selected = select(
        fitting,
        lambda skill: state.since.get(skill.name),
        limits,
        lambda skill, room: compose_text(skill, snapshot.get, room, count),
    )
    return Matched(tuple(sorted([*selected, *others], key=order)))


def _version(skill: Skill, state: MatchState) -> Skill:
    found = state.versions.get(skill.name)
    return found if found is not None and found.key == skill.key else skill


@dataclass(frozen=True, slots=True)
class _SearchedTask:
    """A task prepared for the signals; `hits` are the texts of all patterns that match it."""

    text: str
    hits: frozenset[str]
    lowered: str
    tools: frozenset[str]
    slots: Mapping[str, str]


def _score(skill: Skill, task: _SearchedTask, state: MatchState) -> Match | None:
    """The skill with its signals and its status before the selection; None without any signal."""
    signals = _signals(skill.triggers, task) if skill.triggers is not None else []
    near = state.near.get(skill.key, 0.0)
    ruled = min(sum([signal.weight for signal in signals]), 1.0)
    if near >= SEMANTIC:
        reason = "similarity {near:.2f} to its " + ("conditions" if skill.conditions else "description")
        signals.append(Signal("semantic", Sentence(reason, near=near), round(near, _DIGITS)))
    wanted = _wanted(skill, task)
    signals += [wanted] if wanted is not None else []
    if not signals:
        return None
    factor = state.factors.get(skill.name, 1.0) if wanted is None else 1.0
    base = max(ruled, near if near >= SEMANTIC else 0.0, wanted.weight if wanted is not None else 0.0)
    threshold = skill.triggers.threshold if skill.triggers is not None else SEMANTIC
    score = _scaled(base, factor)
    why: str = ""
    if skill.name in state.present:
        status, why = MatchStatus.PRESENT, Sentence("the model has it already")
    elif wanted is not None:
        status = MatchStatus.ACTIVE
    elif ruled and _scaled(ruled, factor) >= threshold:
        status = MatchStatus.OFFERED
    elif near >= SEMANTIC and near * factor >= SEMANTIC:
        threshold, status = SEMANTIC, MatchStatus.OFFERED
    else:
        below = Sentence("{score:.2f} is below {threshold:.2f}", score=score, threshold=threshold)
        status, why = MatchStatus.BELOW, below
    slots = _slots(skill.triggers, task.slots)
    return Match(skill, tuple(signals), round(base, _DIGITS), factor, score, threshold, status, why, slots)


def _wanted(skill: Skill, task: _SearchedTask) -> Signal | None:
    """The reason to give the whole text of a skill; None to offer it at most."""
    if skill.is_always:
        return Signal("always", "activation: always", 1.0)
    return Signal("named", skill.name, 1.0) if names_skill(task.text, skill) else None


def _scaled(value: float, factor: float) -> float:
    return round(min(value * factor, 1.0), _DIGITS)


def _signals(triggers: Triggers, task: _SearchedTask) -> list[Signal]:
    found = []
    intent = next((each for each in triggers.patterns if task.hits >= each.texts), None) if task.hits else None
    exception = next((each for each in triggers.exceptions if each.text in task.hits), None) if intent else None
    if exception is not None:
        found.append(Signal("except_pattern", exception.text, 0.0))
    elif intent is not None:
        found.append(Signal("intent_pattern", str(intent), INTENT))
    if not task.tools.isdisjoint(triggers.tools):
        found += [Signal("tool_signal", tool, TOOL) for tool in dict.fromkeys(triggers.tools) if tool in task.tools]
    words = [word for word in triggers.keywords if _has(task.lowered, word)]
    if words:
        share = len(words) / len(triggers.keywords)
        counts = {"found": len(words), "all": len(triggers.keywords), "words": ", ".join(words)}
        detail = Sentence("{found}/{all} keywords: {words}", **counts)
        found.append(Signal("context_keyword", detail, round(KEYWORDS * share, _DIGITS)))
    for name, values in triggers.slots:
        if task.slots.get(name) in values:
            found.append(Signal("context_slot", f"{name}={task.slots[name]}", SLOT))
    return found


def _slots(triggers: Triggers | None, known: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The known values that the triggers name. If the type of the task is not known, it is the first one of the skill:
    a task that fits a skill is of its type."""
    named = dict(triggers.slots) if triggers is not None else {}
    types = named.get(TASK_TYPE) or ()
    found = {TASK_TYPE: types[0]} if types and TASK_TYPE not in known else {}
    return tuple(
        {**found, **{name: known[name] for name, values in named.items() if known.get(name) in values}}.items()
    )


def _has(text: str, word: str) -> bool:
    """True if the text contains the word; a Latin one must start at a word boundary: `art` is not in `start`."""
    at = text.find(word)
    if at <= 0 or not (word[0].isascii() and word[0].isalnum()):
        return at >= 0
    while at > 0 and text[at - 1].isascii() and text[at - 1].isalnum():
        at = text.find(word, at + 1)
    return at >= 0


def _check_reviewed(found: Match, snapshot: SkillSnapshot) -> Match:
    """The match; with the status `UNREVIEWED` if the skill or a skill of its chain is unreviewed."""
    skill = found.skill
    parts = (part for part in parts_of(skill, snapshot.get) if not part.reviewed)
    unreviewed = skill if not skill.reviewed else next(parts, None)
    if unreviewed is None:
        return found
    why = Sentence(
        "nobody has looked at it on this machine: vault-agent skills review {name}"
        if unreviewed is skill
        else "nobody has looked at its step {name}: vault-agent skills review {name}",
        name=unreviewed.name,
    )
    return replace(found, status=MatchStatus.UNREVIEWED, why=why)
