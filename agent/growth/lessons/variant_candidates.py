"""The skills of which a variant may be tried now: learned ones that work well, and have been used often enough.

Uses in runs that have read text by others are left out: nothing that a stranger wrote makes or judges a variant.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
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


@dataclass(frozen=True, slots=True)
class CandidateSearch:
    """Looks at the skills of one vault; `pause_days` as in the settings."""

    skills: SkillSet
    pause_days: int

    def look(self) -> Iterator[SkillCandidate | Unfit]:
        """All skills of the vault, each with the reason why it may not be tried, or what is needed to try it."""
        vault = self.skills.workspace.vault
        busy = {record.skill for record in open_trials(vault)}
        asked = {each.facts.get("skill", "") for each in pending_proposals(vault, "mutation")}
        last = _last_tried(vault)
        for skill in self.skills.library.snapshot().candidates:
            if skill.source is not SkillSource.PACKAGE:
                yield self._look(skill, busy, asked, last)

    def _look(
        self, skill: Skill, busy: set[str], asked: set[str], last: Mapping[str, datetime]
    ) -> SkillCandidate | Unfit:
        if skill.source is not SkillSource.LEARNED:
            return Unfit(skill, "not_learned")
        if not skill.reviewed:
            return Unfit(skill, "unreviewed")
        if skill.name in busy:
            return Unfit(skill, "on_trial")
        if skill.name in asked:
            return Unfit(skill, "asked")
        workspace = self.skills.workspace
        window = recent_uses(load_own_uses(workspace.vault, skill.name))
        if len(window) < LEAST_USES:
            return Unfit(skill, "few_uses", len(window), rate_of(window))
        if (rate_of(window) or 0.0) < LEAST_RATE:
            return Unfit(skill, "low_rate", len(window), rate_of(window))
        at = last.get(skill.name)
        if at is not None and workspace.clock.now() - at < timedelta(days=self.pause_days):
            return Unfit(skill, "pause", len(window), rate_of(window))
        return self._own_uses(skill)

    def _own_uses(self, skill: Skill) -> SkillCandidate | Unfit:
        """The same by the uses in runs that have read nothing by others; reads their sessions."""
        vault = self.skills.workspace.vault
        rows = [use for use in recent_uses(load_own_uses(vault, skill.name), 2 * RECENT) if not is_tainted(vault, use)]
        uses = tuple(rows[-RECENT:])
        rate = rate_of(uses)
        if len(uses) < LEAST_USES:
            return Unfit(skill, "few_uses", len(uses), rate)
        if rate is None or rate < LEAST_RATE:
            return Unfit(skill, "low_rate", len(uses), rate)
        data = vault.read(skill.path) or b""
        return SkillCandidate(skill, data, uses, rate, is_agents_own(vault, skill.path))


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


def _last_tried(vault: Vault) -> dict[str, datetime]:
    return {row.words: row.at for row in load_log(vault).rows if row.is_of_skill and row.event in _PAUSES}
