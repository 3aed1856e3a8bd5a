"""Which skills fit a task, and how well: three stages of signals with fixed weights, each of them shown.

1. Intent: a pattern of the skill matches the task (or all of some that belong together do) and none of its
exceptions does, 0.5. 2. What goes on around it:
0.25 for each of its tools that was used lately, 0.15 times the share of its keywords that the task has, 0.1 for each
slot with one of its values. For learned skills, how near the task is to their conditions in meaning. 3. Conflicts,
left to `conflicts`. Feedback multiplies the sum. Pure: whatever was measured or remembered is in the `State`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType

from agent.skills.loading.library import SkillSnapshot
from agent.skills.matching.selection import Match, MatchStatus, SelectionLimits, Signal, order, select
from agent.skills.matching.truncate import CountTokens, Truncated, truncate
from agent.skills.matching.workflow import compose_workflow
from agent.skills.reading import chain
from agent.skills.reading.normalize import normalize
from agent.skills.reading.patterns import excerpt, searchable
from agent.skills.reading.skill import Skill, Triggers

INTENT, TOOL, KEYWORDS, SLOT = 0.5, 0.25, 0.15, 0.1
SEMANTIC, REFERENCE = 0.8, 0.6
"""Similarity (as `similarity` calibrates it) from which on a learned skill is used, or offered to look at."""
USUAL = SelectionLimits()
_DIGITS = 4
_SHOWN = frozenset({MatchStatus.ACTIVE, MatchStatus.PRESENT})
_TRUSTED_ONLY = frozenset({MatchStatus.ACTIVE, MatchStatus.REFERENCE})


def _no_numbers() -> Mapping[str, float]:
    return MappingProxyType({})


def _no_texts() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MatchTask:
    """What is to be done: its text, the tools used lately, and named values that are known of it."""

    text: str
    tools: tuple[str, ...] = ()
    slots: Mapping[str, str] = field(default_factory=_no_texts)


@dataclass(frozen=True, slots=True)
class MatchState:
    """What is remembered of skills, each by name: `since`, the seconds since it was used in this session; `factors`
    from feedback (1 where there is none); `near` (by key), how near the task is to its conditions, 0 to 1. `present`:
    skills that the model has before it already."""

    since: Mapping[str, float] = field(default_factory=_no_numbers)
    factors: Mapping[str, float] = field(default_factory=_no_numbers)
    near: Mapping[str, float] = field(default_factory=_no_numbers)
    present: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Matched:
    """Every skill that anything spoke for, best first, each with its signals and status; and the rest."""

    matches: tuple[Match, ...]
    catalogue: tuple[Skill, ...]

    def of(self, *fates: MatchStatus) -> tuple[Match, ...]:
        """The matches with one of these fates."""
        return tuple(match for match in self.matches if match.status in fates)

    @property
    def active(self) -> tuple[Match, ...]:
        """What is put before the model."""
        return self.of(MatchStatus.ACTIVE)

    @property
    def reference(self) -> tuple[Match, ...]:
        """What the model may look at."""
        return self.of(MatchStatus.REFERENCE)

    @property
    def unreviewed(self) -> tuple[Match, ...]:
        """What would have been used, had somebody looked at it."""
        return self.of(MatchStatus.UNREVIEWED)


def match(
    task: MatchTask, shelf: SkillSnapshot, state: MatchState, count: CountTokens, limits: SelectionLimits = USUAL
) -> Matched:
    """Weigh every skill against a task and decide which are used."""
    seen = _LookedAt(
        shelf.patterns.hits(searchable(task.text)),
        normalize(excerpt(task.text).lower()),
        frozenset(task.tools),
        task.slots,
    )
    scored = [
        found for skill in shelf.candidates if skill.has_triggers and (found := _score(skill, seen, state)) is not None
    ]
    done = [_untrusted(each, shelf) if each.status in _TRUSTED_ONLY else each for each in scored]
    fitting = [each for each in done if each.status is MatchStatus.ACTIVE]
    others = [each for each in done if each.status is not MatchStatus.ACTIVE]
    decided = select(
        fitting, lambda skill: state.since.get(skill.name), limits, lambda skill, room: _text(skill, shelf, room, count)
    )
    matches = tuple(sorted([*decided, *others], key=order))
    shown = {(each.skill.name, each.skill.source) for each in matches if each.status in _SHOWN}
    return Matched(matches, tuple(skill for skill in shelf.candidates if (skill.name, skill.source) not in shown))


@dataclass(frozen=True, slots=True)
class _LookedAt:
    """A task as the signals look at it."""

    hits: frozenset[str]
    lowered: str
    tools: frozenset[str]
    slots: Mapping[str, str]


def _score(skill: Skill, task: _LookedAt, state: MatchState) -> Match | None:
    """The skill with its signals and its status before conflicts; None when nothing speaks for it."""
    signals = _signals(skill.triggers, task) if skill.triggers is not None else []
    near = state.near.get(skill.key, 0.0) if skill.conditions else 0.0
    ruled = min(sum([signal.weight for signal in signals]), 1.0)
    if near >= REFERENCE:
        signals.append(Signal("semantic", f"similarity {near:.2f} to its conditions", round(near, _DIGITS)))
    if not signals:
        return None
    factor = state.factors.get(skill.name, 1.0)
    base = max(ruled, near if near >= REFERENCE else 0.0)
    threshold = skill.triggers.threshold if skill.triggers is not None else SEMANTIC
    score = _scaled(base, factor)
    if skill.name in state.present:
        status, why = MatchStatus.PRESENT, "the model has it already"
    elif ruled and _scaled(ruled, factor) >= threshold:
        status, why = MatchStatus.ACTIVE, ""
    else:
        threshold, status, why = _by_meaning(near, factor, threshold, score)
    return Match(skill, tuple(signals), round(base, _DIGITS), factor, score, threshold, status, why)


def _by_meaning(near: float, factor: float, threshold: float, score: float) -> tuple[float, MatchStatus, str]:
    """The threshold that counts, the status and its reason for a skill that its rules do not call for."""
    if near >= REFERENCE and near * factor >= REFERENCE:
        if _scaled(near, factor) >= SEMANTIC:
            return SEMANTIC, MatchStatus.ACTIVE, ""
        return SEMANTIC, MatchStatus.REFERENCE, f"near its conditions, but below {SEMANTIC}: offered to look at"
    return threshold, MatchStatus.BELOW, f"{score:.2f} is below {threshold:.2f}"


def _scaled(value: float, factor: float) -> float:
    return round(min(value * factor, 1.0), _DIGITS)


def _signals(triggers: Triggers, task: _LookedAt) -> list[Signal]:
    found = []
    hits = task.hits
    intent = next((each for each in triggers.patterns if hits >= each.texts), None) if hits else None
    but = next((each for each in triggers.exceptions if each.text in hits), None) if intent is not None else None
    if but is not None:
        found.append(_signal("except_pattern", but.text, 0.0))
    elif intent is not None:
        found.append(_signal("intent_pattern", str(intent), INTENT))
    if not task.tools.isdisjoint(triggers.tools):
        found += [_signal("tool_signal", tool, TOOL) for tool in dict.fromkeys(triggers.tools) if tool in task.tools]
    words = [word for word in triggers.keywords if word in task.lowered and _has(task.lowered, word)]
    if words:
        share = len(words) / len(triggers.keywords)
        said = f"{len(words)}/{len(triggers.keywords)} keywords: {', '.join(words)}"
        found.append(_signal("context_keyword", said, round(KEYWORDS * share, _DIGITS)))
    for name, values in triggers.slots:
        if task.slots.get(name) in values:
            found.append(_signal("context_slot", f"{name}={task.slots[name]}", SLOT))
    return found


@lru_cache(maxsize=4_096)
def _signal(type_: str, detail: str, weight: float) -> Signal:
    """The signal; most come again with every task."""
    return Signal(type_, detail, weight)


def _has(text: str, word: str) -> bool:
    """Whether the text has the word; one of Latin letters must begin where a word does: `art` is not in `start`."""
    at = text.find(word)
    if at <= 0 or not (word[0].isascii() and word[0].isalnum()):
        return at >= 0
    while at > 0 and text[at - 1].isascii() and text[at - 1].isalnum():
        at = text.find(word, at + 1)
    return at >= 0


def _untrusted(found: Match, shelf: SkillSnapshot) -> Match:
    """The match, or why it is only shown: nobody here has looked at it, or at a part of it."""
    skill = found.skill
    if not skill.reviewed:
        why = f"nobody has looked at it on this machine: vault-agent skills review {skill.name}"
        return replace(found, status=MatchStatus.UNREVIEWED, why=why)
    strange = [part.name for part in chain.parts(skill, shelf.get) if not part.reviewed]
    if strange:
        why = f"nobody has looked at its step {strange[0]}: vault-agent skills review {strange[0]}"
        return replace(found, status=MatchStatus.UNREVIEWED, why=why)
    return found


def _text(skill: Skill, shelf: SkillSnapshot, room: int, count: CountTokens) -> Truncated:
    if not skill.chain:
        return truncate(skill.body, room, count, skill.name)
    text = compose_workflow(skill, shelf.get, room, count)
    return truncate(text, room, count, skill.name)
