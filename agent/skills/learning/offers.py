"""Offers of learned skills: proposals of a text, whose yes writes it to `skills/learned/`.

An existing skill is never overwritten: a longer workflow is offered as an addition to it. A workflow that nobody has
written up is not offered: it waits for a model. Finding workflows is left to `learner`, the texts to `suggestion` and
`written`.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from agent.asking.answers import TextConsequence, propose, settle, tick, undecided
from agent.asking.proposal import Proposal
from agent.asking.records import proposals_of, save
from agent.dataclass import dataclass
from agent.errors import AgentError, SecretFound, UserError
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.skills.learning.learner import RefusedWorkflow, find_suggestions, sequence_of
from agent.skills.learning.sequences import ToolSequence, WorkflowTrace, contains
from agent.skills.learning.suggestion import (
    Suggestion,
    compose_skill,
    extend_skill,
    is_offer,
    offer_draft,
    tools_of,
    workflow_facts,
    workflow_key,
)
from agent.skills.learning.written import WriteSkill, named_by_person, parse_written
from agent.skills.reading.skill import FILE, Skill, SkillSource
from agent.texts import Language
from agent.vault.change import Stamp
from agent.vault.folders import APPROVALS, DEPRECATED, LEARNED
from agent.vault.store import Vault

MOST_AT_ONCE = 3
"""The most waiting offers: more would be noise."""
logger = logging.getLogger(__name__)
_TOOL = "skill_learner"


@dataclass(frozen=True, slots=True)
class SkillOffers:
    """The offers of one vault. `language` is that of their notes; `traces` loads the runs
    that are learned from, `write` asks a model for a skill (None: there is none)."""

    vault: Vault
    language: Language = "en"
    traces: Callable[[], Sequence[WorkflowTrace]] = tuple
    write: WriteSkill | None = None

    def all(self) -> tuple[Proposal, ...]:
        """All offers made on this machine, oldest first."""
        return proposals_of(self.vault, "skill_offer")

    def pending(self) -> tuple[Proposal, ...]:
        """The offers without a recorded answer."""
        return tuple(undecided(self.vault, "skill_offer"))

    def refused(self) -> tuple[RefusedWorkflow, ...]:
        """The workflows refused here or in another clone, and those whose skill was deleted or moved away."""
        offers = self.all()
        gone = [each for each in offers if each.status == "approved" and self.vault.read(each.notes[0].path) is None]
        refused = [offer for offer in offers if offer.status == "rejected"]
        found = [RefusedWorkflow(tools_of(offer), int(offer.facts["support"])) for offer in [*gone, *refused]]
        for path in self.vault.note_paths():
            name = self.vault.home.name_of(path)
            if name.startswith((APPROVALS, DEPRECATED)):
                found += _parse_refusal(name, self.vault.read(path) or b"")
        return tuple(dict.fromkeys(found))

    def suggest(self, skills: Sequence[Skill]) -> tuple[Suggestion, ...]:
        """The workflows worth learning from the vault's runs, without those already offered.

        Runs that a learned skill came from are not counted again.
        """
        waiting = self.pending()
        known = {workflow_key(tools_of(offer)) for offer in waiting}
        taught = self._taught(skills)
        fresh = [
            trace
            for trace in self.traces()
            if not any(contains(trace.tools, tools) for tools in taught.get(trace.path, ()))
        ]
        found = find_suggestions(fresh, skills, self.refused())
        return tuple(replace(each, language=self.language) for each in found if each.key not in known)

    def learn(self, skills: Sequence[Skill]) -> tuple[Proposal, ...]:
        """Offer the best suggestions, up to three waiting offers; returns the new offers. A new skill is offered once a
        model has written it, and one that no model could write is left until it was done twice as often."""
        room = MOST_AT_ONCE - len(self.pending())
        if room <= 0:  # called after every run that uses tools: this saves reading all traces
            return ()
        made: list[Proposal] = []
        for suggestion in self.suggest(skills)[:room]:
            try:
                written = self._written(suggestion, self._taken(skills))
                made += [self.propose(written)] if written is not None else []
            except SecretFound as error:  # the others can still be offered
                logger.warning("a workflow is not offered as a skill: %s", error)
        return tuple(made)

    def learn_as(self, name: str, skills: Sequence[Skill]) -> Proposal:
        """Offer the best new workflow under the name that the person gives it; raises `UserError`."""
        new = next((each for each in self.suggest(skills) if not each.changes), None)
        if new is None:
            raise UserError("no new workflow has come back often enough yet", hint="vault-agent skills suggest")
        return self.propose(named_by_person(new, name, self._taken(skills)))

    def _taken(self, skills: Sequence[Skill]) -> frozenset[str]:
        return frozenset((*(skill.name for skill in skills), *(offer.name for offer in self.pending())))

    def _written(self, suggestion: Suggestion, taken: frozenset[str]) -> Suggestion | None:
        """The suggestion as a model has written it; None while it waits for one."""
        if suggestion.changes:
            return suggestion
        try:
            words = self.write(suggestion) if self.write is not None else ""
        except AgentError as error:
            logger.info("a workflow waits for a model to be written as a skill: %s", error)
            return None
        written = parse_written(suggestion, words, taken)
        if written is None and self.write is not None:
            now, why = self.vault.clock.now(), "the model's text was of no use"
            facts = workflow_facts(suggestion)  # as if it were refused: it is left until it was done twice as often
            save(self.vault, Proposal("skill_offer", "", "", self.vault.clock.new_id(), now, facts=facts,
                                      status="rejected", reason=why))  # fmt: skip
        return written

    def propose(self, suggestion: Suggestion) -> Proposal:
        """Write the note for one suggestion that has its name and text, in a commit; raises `UserError` if the skill
        was added or removed meanwhile."""
        now = self.vault.clock.now()
        skill = self.vault.home.at(f"{LEARNED}{suggestion.name}/{FILE}")
        base = self.vault.read(skill)
        if suggestion.changes and base is None:
            raise UserError(
                "there is no {skill} any more to add to", hint="vault-agent skills learn looks again", skill=skill
            )
        if not suggestion.changes and base is not None:
            raise UserError("{skill} exists already", hint="rename it, then: vault-agent skills learn", skill=skill)
        draft = extend_skill(suggestion, base, now) if base is not None else compose_skill(suggestion, now)
        asked = offer_draft(suggestion, draft, skill, base)
        more: dict[str, Value] = {"sequence": list(suggestion.tools), "support": suggestion.support}
        return propose(self.vault, asked, self.language, tool=_TOOL, more={"skill": suggestion.name, **more})

    def accept(self, name: str) -> Proposal:
        """Accept the offer with this skill, note or id for the person; raises `UserError` if no such offer waits."""
        return self._answer(name, True)

    def reject(self, name: str, why: str = "") -> Proposal:
        """Refuse an offer for the person; the workflow is offered again after twice as many runs."""
        return self._answer(name, False, why)

    def settle(self) -> tuple[Proposal, ...]:
        """Apply the answers given in the notes; returns the decided offers."""
        return settle(self.vault, ("skill_offer",), TextConsequence(self.vault), Stamp("agent", tool=_TOOL))

    def _answer(self, name: str, yes: bool, why: str = "") -> Proposal:
        offer = self._waiting(name)
        tick(self.vault, offer, yes, why)
        return next((each for each in self.settle() if each.id == offer.id), offer)

    def _waiting(self, name: str) -> Proposal:
        for offer in self.pending():
            if name in {offer.name, offer.path, offer.id}:
                return offer
        raise UserError("no suggestion {name} waits here", hint="vault-agent skills suggest lists them", name=name)

    def _taught(self, skills: Sequence[Skill]) -> Mapping[str, Sequence[ToolSequence]]:
        """By the path of a session that learned skills came from: their workflows."""
        found: dict[str, list[ToolSequence]] = {}
        for skill in skills:
            if skill.source is SkillSource.LEARNED and (tools := sequence_of(skill)):
                for link in Note.parse(self.vault.read(skill.path) or b"").strings("learned_from"):
                    found.setdefault(f"{link.removeprefix('[[').removesuffix(']]')}.md", []).append(tools)
        return found


def _parse_refusal(name: str, data: bytes) -> Iterator[RefusedWorkflow]:
    note = Note.parse(data)
    if name.startswith(APPROVALS) and is_offer(note) and note.string("status") == "rejected":
        support = note.header.get("support")
        if note.strings("sequence") and isinstance(support, int):
            yield RefusedWorkflow(note.strings("sequence"), support)
    elif name.startswith(DEPRECATED) and name.endswith(f"/{FILE}"):
        metadata = note.header.get("metadata")
        sequence = str(metadata.get("sequence", "")) if isinstance(metadata, Mapping) else ""
        if sequence:
            yield RefusedWorkflow(tuple(sequence.split(",")), max(len(note.strings("learned_from")), 1))
