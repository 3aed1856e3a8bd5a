"""Jobs for a vault after a run or in idle time: each ends in a commit or in nothing, and may safely run again.

The caller decides when a job runs: the daemon's maintenance, or the process of a run if no daemon runs.

The upkeep of a vault's memory, run by a person, by the daemon's maintenance, or after a run if no daemon does it.

The questions about the profile that wait for the person, and what follows once they have answered.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent.asking.answers import settle_proposals
from agent.asking.questions.question import Question, noted_questions
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.runs import ProposalDecided, SkillRated, TaskCompleted
from agent.memory.profile.changes import Proposed
from agent.memory.profile.questions import decided, has_consented, open_questions
from agent.memory.upkeep.lifecycle import UpkeepPlan, plan, run
from agent.records.table import Table
from agent.runs.arrivals import tend_arrivals
from agent.runs.own_files import settle_own_files
from agent.runs.owner import fill_profile
from agent.runs.skill_feedback import gather_feedback
from agent.runs.skill_set import SkillSet
from agent.runs.waiting_statements import silent_conversations
from agent.vault.change import Outcome
from agent.vault.folders import ENTRIES, SKILL_HISTORY, SKILLS
from agent.vault.health.packing import is_packing_due, pack
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.runs.conversations import Conversations
    from agent.runs.skill_learning import SkillLearning


@dataclass(frozen=True, slots=True)
class Extent:
    """The state at the begin of an upkeep: the day, and how many entries of that day there are."""

    day: str = ""
    entries: int = 0


@dataclass(frozen=True, slots=True)
class UpkeepDue:
    """The state at the begin of the last upkeep of one vault on this machine."""

    workspace: Workspace

    @property
    def last(self) -> Table[Extent]:
        """The state at the begin of the last upkeep on this machine."""
        return Table(self.workspace.vault.records, "upkeep", Extent, is_flushed=False)

    def is_due(self, now: datetime) -> bool:
        """True if the upkeep should run now; reads one row and the names in one folder."""
        settings = self.workspace.settings.memory
        if not (settings.lifecycle or settings.long_term):
            return False
        last, here = self.last.get() or Extent(), self.extent(now)
        return here.day != last.day or here.entries - last.entries >= settings.lifecycle_entries

    def extent(self, now: datetime) -> Extent:
        """The state for an upkeep that begins now; taken before it reads the first note."""
        vault = self.workspace.vault
        folder = Path(vault.place.root, vault.home.at(ENTRIES), f"{now:%Y/%m}")
        entries = sum(1 for _ in folder.glob(f"{now:%Y-%m-%d}*.md")) if folder.is_dir() else 0
        return Extent(now.date().isoformat(), entries)

    def record(self, extent: Extent) -> None:
        """Record an upkeep that has run; it runs once more if that cannot be written."""
        with suppress(AgentError):
            self.last.put(extent)


logger = logging.getLogger(__name__)


def learn_nothing() -> int:
    """Learn nothing; for an upkeep without it."""
    return 0


@dataclass(frozen=True, slots=True)
class Upkeeper:
    """Runs the upkeep of one vault's memory, and beside it the profile. `learn` writes down what the person prefers, in
    a commit of its own, at most once a day, and returns how many lines changed."""

    workspace: Workspace
    learn: Callable[[], int] = learn_nothing

    def plan(self) -> UpkeepPlan:
        """The upkeep that is needed now; writes nothing."""
        settings = self.workspace.settings
        return plan(self.workspace.vault, settings.memory, settings.vault.language, self.workspace.clock.now())

    def run(self) -> tuple[UpkeepPlan, Outcome]:
        """Do the upkeep that is needed now, in one commit, and record its time."""
        due = UpkeepDue(self.workspace)
        extent = due.extent(self.workspace.clock.now())
        upkeep = self.plan()
        outcome = run(self.workspace.vault, upkeep) if upkeep.requests else Outcome()
        due.record(extent)
        return upkeep, outcome

    def fill_profile(self) -> Proposed:
        """Write what the person has stated lately into their profile, in a commit of its own."""
        return fill_profile(self.workspace)

    def tend(self) -> UpkeepPlan:
        """All of it: the upkeep, what is learned, and the profile."""
        upkeep, _ = self.run()
        self.learn()
        self.fill_profile()
        return upkeep

    def run_when_due(self) -> UpkeepPlan | None:
        """Run the upkeep if it is due; returns None if it is not due, or failed and has to wait."""
        if not UpkeepDue(self.workspace).is_due(self.workspace.clock.now()):
            return None
        try:
            return self.tend()
        except AgentError as error:
            logger.warning("the upkeep of memory has to wait: %s", error.message)
            return None


def is_profile_answered(workspace: Workspace) -> bool:
    """True if an answer about the profile is to be carried out: a box is ticked, or the person has agreed."""
    return bool(decided(workspace.vault)) or has_consented(workspace.vault)


def profile_questions(workspace: Workspace) -> tuple[Question, ...]:
    """The unanswered questions about the profile: which of two lines holds, and whether health may be noted."""
    asked = frozenset(open_questions(workspace.vault))
    return tuple(each for each in noted_questions(workspace.vault) if each.path in asked) if asked else ()


@dataclass(slots=True)
class UpkeepJobs:
    """The jobs of one vault. `learning`, `upkeeper` and `talks` build what is needed now; `tell` publishes feedback;
    `settle_trials` ends the trials of skills that the last uses have decided, and begins those that were approved."""

    workspace: Workspace
    skills: SkillSet
    learning: "Callable[[], SkillLearning]"
    upkeeper: "Callable[[], Upkeeper]"
    talks: "Callable[[], Conversations]"
    tell: Callable[[object], object]
    settle_trials: Callable[[SkillSet], object]
    _edited: list[tuple[str, Sequence[str]]] = field(default_factory=list, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def skills_changed(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Read the skills of these changed files again before the next use; returns the paths of skills among them."""
        found = self._of_skills(paths)
        if found:
            self.skills.changed(found)
        return found

    def skills_edited(self, commit: str, paths: Sequence[str]) -> tuple[str, ...]:
        """Record a commit of a person's edits of skills, so that `reviews` keeps them trusted; returns the same."""
        found = self._of_skills(paths)
        if found:
            with self._lock:
                self._edited.append((commit, found))
        return found

    def _of_skills(self, paths: Sequence[str]) -> tuple[str, ...]:
        home = self.workspace.vault.home
        return tuple(each for each in paths if home.holds(each, SKILLS) and not home.holds(each, SKILL_HISTORY))

    def reviews(self) -> None:
        """Keep skills trusted that their owner edited by hand on this machine; ask about the other unreviewed ones."""
        with self._lock:
            edited = tuple(self._edited)
        self.skills.edited_here(edited)
        with self._lock:
            del self._edited[: len(edited)]
        for path in self.skills.ask_reviews():
            logger.info("asked about a skill in %s", path)

    def has_silent_conversations(self) -> bool:
        """True if a conversation has fallen silent, and the model has not said yet what is worth keeping of it."""
        return bool(silent_conversations(self.workspace))

    def conversations(self) -> None:
        """Keep the facts of the conversations that have fallen silent."""
        self.talks().keep_ended()

    def is_packing_due(self) -> bool:
        """True if git has gathered many loose objects, or a long history without a commit graph."""
        return is_packing_due(self.workspace.vault)

    def pack(self) -> None:
        """Pack the history; writes go on meanwhile."""
        done = pack(self.workspace.vault)
        logger.info("the history was packed: %d loose objects, %d now", done.before, done.after)

    def arrivals(self) -> None:
        """Ask about notes that arrived from elsewhere, and apply the decisions about them."""
        tend_arrivals(self.workspace)

    def offers(self) -> None:
        """Apply the decisions about skills, and about what else was proposed, that were made in notes."""
        for name, trusted in self.skills.ticked():
            logger.info("the skill %s is %s", name, "trusted now" if trusted else "not trusted")
        for offer in self.learning().settle():
            logger.info("the suggestion %s was %s", offer.name, offer.status)
        for answered in settle_own_files(self.workspace):
            logger.info("the file %s was %s", answered.name, answered.status)
        for proposal in settle_proposals(self.workspace.vault):
            logger.info("the proposal %s was %s", proposal.name, proposal.status)
            self.tell(ProposalDecided(proposal.kind, proposal.id, proposal.status))
        self.settle_trials(self.skills)

    def opinions(self) -> None:
        """Record the person's new feedback on skills; end trials, and put aside skills that keep failing."""
        shelf = self.skills.library.snapshot()
        uses = gather_feedback(self.workspace, shelf.named)
        for use in uses:
            self.tell(SkillRated(use.name, use.run, use.feedback))
        self.settle_trials(self.skills)
        names = {use.name for use in uses}
        self.skills.put_aside(shelf.named[name] for name in names if name in shelf.named)

    def may_learn_from(self, event: TaskCompleted) -> bool:
        """True if learning is on and a run that a person asked for used several tools: it may have completed a
        repeated workflow."""
        return self.skills.settings.learn and not event.job and len(set(event.tools)) > 1

    def learn(self) -> None:
        """Offer repeated workflows as skills."""
        self.learning().unasked.learn()

    def upkeep(self) -> None:
        """Run the upkeep of memory if it is due."""
        if UpkeepDue(self.workspace).is_due(self.workspace.clock.now()):
            self.upkeeper().run_when_due()

    def profile(self) -> None:
        """Carry out what the person has answered about their profile."""
        if is_profile_answered(self.workspace):
            self.upkeeper().fill_profile()

    def after_run(self, event: TaskCompleted) -> None:
        """Do the jobs that are due after a run in this process, if no daemon does them."""
        self.opinions()
        if self.may_learn_from(event):
            self.learn()
        self.upkeep()
