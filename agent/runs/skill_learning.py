"""Workflows that came back, offered as skills and taken in when the person says yes.

Which workflows are worth it and how an offer is kept is `agent.skills`'s; when to look is left to whoever runs.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from agent.context.prompt import fill
from agent.events.bus import ignore_event
from agent.events.runs import SkillSuggested
from agent.llm.messages import Request, User
from agent.runs.accounts import Accounts
from agent.runs.skill_set import SkillSet
from agent.skills.learning.offer_records import SkillOffer
from agent.skills.learning.offers import SkillOffers, WriteInstructions, offers_of
from agent.skills.learning.suggestion import Suggestion, prompt_variables
from agent.skills.loading.files import BadFolder

_LONGEST = 1_500
"""Tokens of a skill that a model writes."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SkillLearning:
    """Learned skills of one vault on their way in. `write` asks a model for the text, None where there is none."""

    skills: SkillSet
    write: WriteInstructions | None = None
    tell: Callable[[object], object] = ignore_event

    @property
    def offers(self) -> SkillOffers:
        """What was offered on this machine."""
        return offers_of(self.skills.workspace.vault, self.skills.workspace.settings.vault.language)

    def learn(self) -> tuple[SkillOffer, ...]:
        """Offer what could be learned by now, a note in `approvals/` each; raises what a transaction raises."""
        made = self.offers.learn(self.skills.library.snapshot().skills, self.write)
        for offer in made:
            self.tell(SkillSuggested(offer.name, offer.path))
        return made

    def settle(self) -> tuple[SkillOffer, ...]:
        """Carry out what was ticked in the notes of offers; returns those that were decided."""
        return tuple(self._taken_in(offer) for offer in self.offers.settle())

    def accept(self, name: str) -> SkillOffer:
        """Say yes in the person's name; raises `UserError` where nothing of that name waits."""
        return self._taken_in(self.offers.accept(name))

    def reject(self, name: str, why: str = "") -> SkillOffer:
        """Say no in the person's name; raises as `accept` does."""
        return self.offers.reject(name, why)

    def _taken_in(self, offer: SkillOffer) -> SkillOffer:
        """The offer; its skill is trusted if it was accepted, as its text was there to be read."""
        if offer.status != "accepted":
            return offer
        library = self.skills.library
        library.changed([offer.skill])
        skill = next((each for each in library.snapshot().skills if each.path == offer.skill), None)
        try:
            if skill is not None and self.skills.workspace.vault.read(offer.skill) == offer.draft.encode():
                library.review(skill, self.skills.workspace.clock.now(), f"accepted in {offer.path}")
        except (BadFolder, OSError) as error:
            logger.warning("%s is there, and has to be reviewed: %s", offer.skill, error)
        return offer


def skill_learning(
    skills: SkillSet, models: Accounts | None, tell: Callable[[object], object] = ignore_event
) -> SkillLearning:
    """Everything put together; without `models`, or where there is no model, texts are made from what was done."""
    present = models is not None and models.models.main.model.present
    return SkillLearning(skills, _writer(skills, models) if models is not None and present else None, tell)


def _writer(skills: SkillSet, models: Accounts) -> WriteInstructions:
    workspace = skills.workspace

    def write(suggestion: Suggestion) -> str:
        prompt = fill("skill", workspace.vault.own_version, **prompt_variables(suggestion))
        model = models.of_run(f"skill-{workspace.clock.new_id()}", "").main
        return model.chat(Request((User(prompt),), max_output=_LONGEST)).message.text

    return write
