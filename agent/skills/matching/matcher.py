"""Scores skills for a task: signals with fixed weights, each of them reported.

1. Intent, 0.5: a pattern of the skill (or all patterns of a group) matches the task, and no exception does.
2. Context: 0.25 for each of its tools that was used lately, 0.15 times the share of its keywords in the task, 0.1 for
   each slot with one of its values. For learned skills also the similarity of the task and their conditions.
3. Feedback multiplies the sum; `selection` decides between the skills that reach their thresholds.

Pure: all measured or stored values come in a `MatchState`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from agent.skills.loading.library import SkillSnapshot
from agent.skills.matching.selection import Match, MatchStatus, SelectionLimits, Signal, order, select
from agent.skills.matching.truncate import TokenCounter, Truncated, truncate
from agent.skills.reading import chain
from agent.skills.reading.chain import FindSkill, flat_steps
from agent.skills.reading.normalize import normalize
from agent.skills.reading.patterns import excerpt, searchable
from agent.skills.reading.skill import ChainStep, Skill, Triggers

INTENT, TOOL, KEYWORDS, SLOT = 0.5, 0.25, 0.15, 0.1
SEMANTIC, REFERENCE = 0.8, 0.6
"""Similarities (calibrated by `similarity`) from which a learned skill is active, or listed for the model to read."""
USUAL = SelectionLimits()
_DIGITS = 4
_SHOWN = frozenset({MatchStatus.ACTIVE, MatchStatus.PRESENT})
_TRUSTED_ONLY = frozenset({MatchStatus.ACTIVE, MatchStatus.REFERENCE})
_NO_NUMBERS: Mapping[str, float] = MappingProxyType({})
_NO_TEXTS: Mapping[str, str] = MappingProxyType({})
_FAILED = {
    "stop": "stop the workflow and say what is missing.",
    "ask": "ask the person how to go on (`human_ask`) before anything else.",
    "retry": "try once more in another way; if that fails too, stop and say what is missing.",
    "skip": "go on without it, and say in the result that it is missing.",
}
_LEAST = 60
"""A step's skill with fewer tokens is only named: its text would be too short to be useful."""


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
    (default 1). `near`: by key, the similarity of the task and the skill's conditions, 0 to 1. `present`: the names of
    skills already in the model's context.
    """

    since: Mapping[str, float] = field(default_factory=lambda: _NO_NUMBERS)
    factors: Mapping[str, float] = field(default_factory=lambda: _NO_NUMBERS)
    near: Mapping[str, float] = field(default_factory=lambda: _NO_NUMBERS)
    present: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Matched:
    """Every skill with a signal, best first; and for the catalogue, the skills whose text is not shown."""

    matches: tuple[Match, ...]
    catalogue: tuple[Skill, ...]

    def of(self, status: MatchStatus) -> tuple[Match, ...]:
        """The matches with this status."""
        return tuple(match for match in self.matches if match.status is status)

    @property
    def active(self) -> tuple[Match, ...]:
        """The skills shown to the model."""
        return self.of(MatchStatus.ACTIVE)

    @property
    def reference(self) -> tuple[Match, ...]:
        """The skills that the model may read on request."""
        return self.of(MatchStatus.REFERENCE)


def match(
    task: MatchTask, snapshot: SkillSnapshot, state: MatchState, count: TokenCounter, limits: SelectionLimits = USUAL
) -> Matched:
    """Score every skill for a task and select those to use."""
    searched = _SearchedTask(
        snapshot.patterns.hits(searchable(task.text)),
        normalize(excerpt(task.text).lower()),
        frozenset(task.tools),
        task.slots,
    )
    candidates = [skill for skill in snapshot.candidates if skill.has_triggers]
    scored = [found for skill in candidates if (found := _score(skill, searched, state)) is not None]
    trusted = [_check_reviewed(each, snapshot) if each.status in _TRUSTED_ONLY else each for each in scored]
    fitting = [each for each in trusted if each.status is MatchStatus.ACTIVE]
    others = [each for each in trusted if each.status is not MatchStatus.ACTIVE]
    selected = select(
        fitting,
        lambda skill: state.since.get(skill.name),
        limits,
        lambda skill, room: _text(skill, snapshot, room, count),
    )
    matches = tuple(sorted([*selected, *others], key=order))
    shown = {each.skill.key for each in matches if each.status in _SHOWN}
    return Matched(matches, tuple(skill for skill in snapshot.candidates if skill.key not in shown))


@dataclass(frozen=True, slots=True)
class _SearchedTask:
    """A task prepared for the signals; `hits` are the texts of all patterns that match it."""

    hits: frozenset[str]
    lowered: str
    tools: frozenset[str]
    slots: Mapping[str, str]


def _score(skill: Skill, task: _SearchedTask, state: MatchState) -> Match | None:
    """The skill with its signals and its status before the selection; None without any signal."""
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
    elif near >= REFERENCE and near * factor >= REFERENCE:
        threshold = SEMANTIC
        is_active = _scaled(near, factor) >= SEMANTIC
        status = MatchStatus.ACTIVE if is_active else MatchStatus.REFERENCE
        why = "" if is_active else f"near its conditions, but below {SEMANTIC}: offered to look at"
    else:
        status, why = MatchStatus.BELOW, f"{score:.2f} is below {threshold:.2f}"
    return Match(skill, tuple(signals), round(base, _DIGITS), factor, score, threshold, status, why)


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
        detail = f"{len(words)}/{len(triggers.keywords)} keywords: {', '.join(words)}"
        found.append(Signal("context_keyword", detail, round(KEYWORDS * share, _DIGITS)))
    for name, values in triggers.slots:
        if task.slots.get(name) in values:
            found.append(Signal("context_slot", f"{name}={task.slots[name]}", SLOT))
    return found


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
    parts = (part for part in chain.parts(skill, snapshot.get) if not part.reviewed)
    unreviewed = skill if not skill.reviewed else next(parts, None)
    if unreviewed is None:
        return found
    what = "it on this machine" if unreviewed is skill else f"its step {unreviewed.name}"
    why = f"nobody has looked at {what}: vault-agent skills review {unreviewed.name}"
    return replace(found, status=MatchStatus.UNREVIEWED, why=why)


def _text(skill: Skill, snapshot: SkillSnapshot, room: int, count: TokenCounter) -> Truncated:
    text = compose_workflow(skill, snapshot.get, room, count) if skill.chain else skill.body
    return truncate(text, room, count, skill.name)


def compose_workflow(skill: Skill, find: FindSkill, room: int, count: TokenCounter) -> str:
    """A chain as one numbered workflow of about `room` tokens: its own text, then each step with the text of its skill.

    If the room is too small, all texts are cut at headings, the longest ones most.
    """
    steps = list(flat_steps(skill, find))
    heads = [_head(number, step, inner) for number, (step, inner) in enumerate(steps, 1)]
    intro = f"A workflow of {len(steps)} steps. Do them in order; keep each named result, as later steps start from it."
    left = room - count("\n\n".join([intro, *heads]))
    texts = _shared([skill, *(inner for _, inner in steps)], left, count)
    blocks = [texts[skill.name], intro]
    for head, (_, inner) in zip(heads, steps, strict=True):
        text = texts.pop(inner.name, f"(as in the step {inner.name} above)")
        blocks.append(f"{head}\n\n{text}" if text else head)
    return "\n\n".join(block for block in blocks if block.strip())


def _shared(skills: Sequence[Skill], room: int, count: TokenCounter) -> dict[str, str]:
    """The text of each skill, by name; the unused share of a short one goes to longer ones."""
    sizes = {skill.name: (count(skill.body), skill) for skill in skills}
    texts = {}
    for waiting, (size, skill) in zip(
        range(len(sizes), 0, -1), sorted(sizes.values(), key=lambda each: each[0]), strict=True
    ):
        share = max(room, 0) // waiting
        text = skill.body if size <= share else truncate(skill.body, share, count, skill.name).text
        texts[skill.name] = text if share >= _LEAST or size <= share else f"(read it: skill_show {skill.name})"
        room -= min(size, share)
    return texts


def _head(number: int, step: ChainStep, inner: Skill) -> str:
    lines = [f"### Step {number}: {inner.name}"]
    lines += [f"- Start from: {', '.join(f'`{name}`' for name in step.inputs)}"] if step.inputs else []
    lines += [f"- With: {', '.join(f'{key} = {value}' for key, value in step.params)}"] if step.params else []
    lines += [f"- Keep the result as: `{step.output}`"] if step.output else []
    lines += [f"- Check before you go on: {step.check}"] if step.check else []
    lines.append(f"- If it fails: {_FAILED[step.on_failure]}")
    return "\n".join(lines)
