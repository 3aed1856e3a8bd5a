"""What is done about a vault when a run is over, or when nothing else goes on: each a job that ends in a commit or in
nothing, and does no harm when it is done once more.

When a job is wanted is its caller's: the daemon's maintenance, or the process of a run where no daemon is at work.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent.events.runs import SkillRated, TaskCompleted
from agent.runs.arrivals import tend_arrivals
from agent.runs.diary import Upkeeper
from agent.runs.skill_feedback import gather_feedback
from agent.runs.skill_learning import SkillLearning
from agent.runs.skill_set import SkillSet
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class UpkeepJobs:
    """The jobs of one vault. `learning` makes the learner where one is needed; `tell` publishes what was found out."""

    workspace: Workspace
    skills: SkillSet
    learning: Callable[[], SkillLearning]
    tell: Callable[[object], object]
    _edited: list[tuple[str, Sequence[str]]] = field(default_factory=list, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def skills_changed(self, paths: Sequence[str]) -> None:
        """Files of skills have changed: they are read anew."""
        self.skills.changed(paths)

    def skills_edited(self, commit: str, paths: Sequence[str]) -> None:
        """A person's edits of skills are recorded in this commit: `reviews` keeps trusting them."""
        with self._lock:
            self._edited.append((commit, paths))

    def reviews(self) -> None:
        """Keep trusting what its owner has edited here by hand; ask about the others that nobody has looked at."""
        with self._lock:
            edited, self._edited = self._edited, []
        self.skills.edited_here(edited)
        for path in self.skills.ask_reviews():
            logger.info("asked about a skill in %s", path)

    def arrivals(self) -> None:
        """Ask about what arrived from elsewhere, and carry out what was decided about it."""
        tend_arrivals(self.workspace)

    def offers(self) -> None:
        """Carry out what was decided about skills in notes."""
        for name, trusted in self.skills.ticked():
            logger.info("the skill %s is %s", name, "trusted now" if trusted else "not trusted")
        for offer in self.learning().settle():
            logger.info("the suggestion %s was %s", offer.name, offer.status)

    def opinions(self) -> None:
        """Write down what people have let us know of skills; put aside what keeps failing."""
        shelf = self.skills.library.snapshot()
        uses = gather_feedback(self.workspace, shelf.named)
        for use in uses:
            self.tell(SkillRated(use.name, use.run, use.feedback))
        names = {use.name for use in uses}
        self.skills.put_aside(shelf.named[name] for name in names if name in shelf.named)

    def may_learn_from(self, event: TaskCompleted) -> bool:
        """Whether a run used tools one after another: then it may have been the one that makes a habit."""
        return self.skills.settings.learn and len(set(event.tools)) > 1

    def learn(self) -> None:
        """Offer as skills what has become a habit by now."""
        self.learning().learn()

    def upkeep(self) -> None:
        """Tend memory, if that is due."""
        Upkeeper(self.workspace).run_when_due()

    def after_run(self, event: TaskCompleted) -> None:
        """All that a run in this process makes due, where no daemon does it."""
        self.opinions()
        if self.may_learn_from(event):
            self.learn()
        self.upkeep()
