"""The skills of which a variant may be tried now: learned ones that work well, and have been used often enough.

Uses in runs that have read text by others are left out: nothing that a stranger wrote makes or judges a variant.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Literal, TypeAlias

from agent.asking.answers import pending_proposals
from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.growth.lessons.lesson_log import LessonEvent, load_log
from agent.loop.session import load_session
from agent.runs.skill_set import SkillSet
from agent.skills.history.stats import RECENT, recent_uses, use_succeeded
from agent.skills.history.usage import Use, load_own_uses
from agent.skills.reading.skill import Skill, SkillSource
from agent.skills.variants.trial_shelf import open_trials
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.find import commits
from agent.vault.store import Vault

LEAST_USES = 10
LEAST_RATE = 0.85
ACCEPTED = "skills(accepted): "
"""The beginning of the subject of the commit in which the person accepts a learned skill: not an edit of theirs."""
_PAUSES: frozenset[LessonEvent] = frozenset(
    ("discarded", "inconclusive", "stopped", "rolled_back", "settled", "nothing", "refused", "gate")
)
"""The events after which a skill is left in peace for some days."""
NotTried: TypeAlias = Literal["not_learned", "unreviewed", "on_trial", "asked", "few_uses", "low_rate", "pause"]


@dataclass(frozen=True, slots=True)
class SkillCandidate:
    """A skill that may be tried: its file's bytes, its last `uses` that say something, oldest first, and their success
    `rate`. `is_agents_own`: nobody but the agent has written in it."""

    skill: Skill
    data: bytes
    uses: tuple[Use, ...]
    rate: float
    is_agents_own: bool


@dataclass(frozen=True, slots=True)
class Unfit:
    """A skill that may not be tried now, and why. `uses` and `rate` are those of its window."""

    skill: Skill
    why: NotTried
    uses: int = 0
    rate: float | None = None


def look_at_skills(skills: SkillSet, pause_days: int) -> Iterator[SkillCandidate | Unfit]:
    """All skills of the vault, each with the reason why it may not be tried, or what is needed to try it; `pause_days`
    as in the settings."""
    vault = skills.workspace.vault
    busy = {record.skill for record in open_trials(vault)}
    asked = {each.facts.get("skill", "") for each in pending_proposals(vault, "mutation")}
    since = skills.workspace.clock.now() - timedelta(days=pause_days)
    ended = (row for row in load_log(vault).rows if row.is_of_skill and row.event in _PAUSES and row.at > since)
    paused = {row.words for row in ended}
    own = (each for each in skills.library.snapshot().candidates if each.source is not SkillSource.PACKAGE)
    for skill in own:
        if skill.source is not SkillSource.LEARNED:
            yield Unfit(skill, "not_learned")
        elif not skill.reviewed:
            yield Unfit(skill, "unreviewed")
        elif skill.name in busy or skill.name in asked:
            yield Unfit(skill, "on_trial" if skill.name in busy else "asked")
        else:
            yield _by_uses(vault, skill, is_paused=skill.name in paused)


def _by_uses(vault: Vault, skill: Skill, *, is_paused: bool) -> SkillCandidate | Unfit:
    """The same by the last uses; where these are enough, by those in runs that have read nothing by others."""
    every = load_own_uses(vault, skill.name)
    uses = tuple(recent_uses(every))
    unfit = _unfit(skill, uses)
    if unfit is None and is_paused:
        unfit = Unfit(skill, "pause", len(uses), rate_of(uses))
    if unfit is None:
        uses = tuple(use for use in recent_uses(every, 2 * RECENT) if not is_tainted(vault, use))[-RECENT:]
        unfit = _unfit(skill, uses)
    own = is_agents_own(vault, skill.path) if unfit is None else False
    return unfit or SkillCandidate(skill, vault.read(skill.path) or b"", uses, rate_of(uses) or 0.0, own)


def _unfit(skill: Skill, uses: Sequence[Use]) -> Unfit | None:
    rate = rate_of(uses)
    if len(uses) < LEAST_USES:
        return Unfit(skill, "few_uses", len(uses), rate)
    return Unfit(skill, "low_rate", len(uses), rate) if (rate or 0.0) < LEAST_RATE else None


def rate_of(uses: Sequence[Use]) -> float | None:
    """The share of uses that succeeded; None without any."""
    outcomes = [outcome for use in uses if (outcome := use_succeeded(use)) is not None]
    return sum(outcomes) / len(outcomes) if outcomes else None


def is_tainted(vault: Vault, use: Use) -> bool:
    """True if the conversation of a use has read text by others, or cannot be read any more."""
    if not use.session:
        return True
    try:
        session = load_session(vault, use.session)
    except NoteGone:
        return True
    return bool(session.untrusted) or vault.own_version(session.path) != vault.read(session.path)


def is_agents_own(vault: Vault, path: str) -> bool:
    """True if all commits of a skill's note are the agent's, or the person's yes to what the agent wrote, and nothing
    has been changed since."""
    made = commits(vault, path=path)
    return (
        bool(made)
        and not vault.changed_files([path])
        and all(each.actor != HUMAN or each.subject.startswith(ACCEPTED) for each in made)
    )
