"""Repeated workflows, offered as skills and added when the person accepts.

The choice of workflows and the storage of offers are left to `agent.skills`, the time to look to the caller.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.asking.proposal import Proposal
from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.events.bus import ignore_event
from agent.events.runs import SkillSuggested
from agent.llm.messages import Request, User
from agent.runs.accounts import Accounts
from agent.runs.skill_set import SkillSet
from agent.runs.workflow_traces import SessionTraces
from agent.skills.learning.offers import SkillOffers
from agent.skills.learning.sequences import WorkflowTrace
from agent.skills.learning.suggestion import Suggestion, prompt_variables
from agent.skills.learning.written import WriteSkill
from agent.skills.loading.files import BadFolder

_LONGEST = 1_500
"""Most tokens of a skill that a model writes."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SkillLearning:
    """Offers of learned skills in one vault. `write` asks a model for a skill; None if there is no model.
    `traces` loads the runs that are learned from."""

    skills: SkillSet
    write: WriteSkill | None
    tell: Callable[[object], object]
    traces: Callable[[], Sequence[WorkflowTrace]]

    @property
    def unasked(self) -> "SkillLearning":
        """The same for offers that nobody has asked for."""
        return replace(self, skills=replace(self.skills, workspace=self.skills.workspace.unasked))

    @property
    def offers(self) -> SkillOffers:
        """The offers made on this machine."""
        workspace = self.skills.workspace
        return SkillOffers(workspace.vault, workspace.settings.vault.language, self.traces, self.write)

    def learn(self) -> tuple[Proposal, ...]:
        """Offer new skills, with a note in `approvals/` for each; raises the errors of a transaction."""
        made = self.offers.learn(self.skills.library.snapshot().skills)
        for offer in made:
            self.tell(SkillSuggested(offer.name, offer.path))
        return made

    def learn_as(self, name: str) -> Proposal:
        """Offer the best new workflow under the person's own name for it; raises `UserError`."""
        return self.offers.learn_as(name, self.skills.library.snapshot().skills)

    def settle(self) -> tuple[Proposal, ...]:
        """Apply the decisions ticked in the notes of offers; returns the decided offers."""
        return tuple(self._taken_in(offer) for offer in self.offers.settle())

    def accept(self, name: str) -> Proposal:
        """Accept an offer in the person's name; raises `UserError` if no offer of that name waits."""
        return self._taken_in(self.offers.accept(name))

    def reject(self, name: str, why: str = "") -> Proposal:
        """Reject an offer in the person's name; raises as `accept` does."""
        return self.offers.reject(name, why)

    def _taken_in(self, offer: Proposal) -> Proposal:
        """The offer; if it was accepted, its skill is trusted, as the person could read the text in the offer."""
        if offer.status != "approved":
            return offer
        library, (wanted,) = self.skills.library, offer.notes
        library.changed([wanted.path])
        skill = next((each for each in library.snapshot().skills if each.path == wanted.path), None)
        try:
            if skill is not None and self.skills.workspace.vault.read(wanted.path) == wanted.text.encode():
                library.review(skill, self.skills.workspace.clock.now(), f"accepted in {offer.path}")
        except (BadFolder, OSError) as error:
            logger.warning("%s is there, and has to be reviewed: %s", wanted.path, error)
        return offer


def skill_learning(
    skills: SkillSet,
    models: Accounts | None,
    tell: Callable[[object], object] = ignore_event,
    traces: SessionTraces | None = None,
) -> SkillLearning:
    """The learner of one vault; without a model, new skills wait for one. `traces` are those that an earlier learner of
    this process has loaded."""
    present = models is not None and models.models.main.model.present
    write = _writer(skills, models) if models is not None and present else None
    return SkillLearning(skills, write, tell, (traces or SessionTraces(skills.workspace.vault)).load)


def _writer(skills: SkillSet, models: Accounts) -> WriteSkill:
    workspace = skills.workspace

    def write(suggestion: Suggestion) -> str:
        prompt = fill("skill", workspace.vault.own_version_of, **prompt_variables(suggestion))
        model = models.of_run(f"skill-{workspace.clock.new_id()}", "").main
        return model.chat(Request((User(prompt),), max_output=_LONGEST)).message.text

    return write
