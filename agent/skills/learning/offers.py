"""Offers of learned skills: each is a note in `approvals/`, answered by a ticked box or a command.

Nothing is written to `skills/learned/` without an approval requested on this machine: a ticked note from a pull has no
record here, and a note with a changed draft is outdated. An existing skill is never overwritten: a longer workflow is
offered as an addition to it. A workflow that nobody has written up is not offered: it waits for a model. Finding
workflows is left to `learner`, the texts to `suggestion` and `written`.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from agent.asking.answers import free_path
from agent.dataclass import dataclass
from agent.errors import AgentError, BadNote, SecretFound, UserError
from agent.markdown.checkbox_decision import parse_reason, settled_note
from agent.markdown.note import Note
from agent.skills.learning.learner import RefusedWorkflow, find_suggestions, sequence_of
from agent.skills.learning.offer_records import (
    SkillOffer,
    delete_offer,
    load_offers,
    offer_records_folder,
    save_offer,
    waiting_offers,
)
from agent.skills.learning.sequences import ToolSequence, contains
from agent.skills.learning.suggestion import (
    Suggestion,
    compose_note,
    compose_skill,
    extend_skill,
    is_offer,
    parse_decision,
    shows,
)
from agent.skills.learning.traces import WorkflowTrace
from agent.skills.learning.written import WriteSkill, named_by_person, read_written
from agent.skills.reading.skill import FILE, Skill, SkillSource
from agent.texts import Language
from agent.vault.change import Stamp
from agent.vault.folders import APPROVALS, DEPRECATED, LEARNED
from agent.vault.store import Vault

MOST_AT_ONCE = 3
"""The most waiting offers: more would be noise."""
logger = logging.getLogger(__name__)
_STAMP = Stamp("agent", tool="skill_learner")


@dataclass(frozen=True, slots=True)
class SkillOffers:
    """The offers of one vault. `folder` has their records, `language` is that of their notes; `traces` loads the runs
    that are learned from, `write` asks a model for a skill (None: there is none)."""

    vault: Vault
    folder: Path
    language: Language = "en"
    traces: Callable[[], Sequence[WorkflowTrace]] = tuple
    write: WriteSkill | None = None

    def all(self) -> tuple[SkillOffer, ...]:
        """All offers made on this machine, oldest first."""
        return load_offers(self.folder)

    def pending(self) -> tuple[SkillOffer, ...]:
        """The offers without an answer."""
        return waiting_offers(self.vault, self.folder)

    def refused(self) -> tuple[RefusedWorkflow, ...]:
        """The workflows refused here or in another clone, and those whose skill was deleted or moved away."""
        offers = self.all()
        gone = [offer for offer in offers if offer.status == "accepted" and self.vault.read(offer.skill) is None]
        refused = [offer for offer in offers if offer.status in {"rejected", "unwritten"}]
        found = [RefusedWorkflow(offer.tools, offer.support) for offer in [*gone, *refused]]
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
        known = {offer.key for offer in waiting}
        taught = self._taught(skills)
        fresh = [
            trace
            for trace in self.traces()
            if not any(contains(trace.tools, tools) for tools in taught.get(trace.path, ()))
        ]
        found = find_suggestions(fresh, skills, self.refused())
        return tuple(replace(each, language=self.language) for each in found if each.key not in known)

    def learn(self, skills: Sequence[Skill]) -> tuple[SkillOffer, ...]:
        """Offer the best suggestions, up to three waiting offers; returns the new offers. A new skill is offered once a
        model has written it, and one that no model could write is left until it was done twice as often."""
        room = MOST_AT_ONCE - len(self.pending())
        if room <= 0:  # called after every run that uses tools: this saves reading all traces
            return ()
        made: list[SkillOffer] = []
        for suggestion in self.suggest(skills)[:room]:
            try:
                written = self._written(suggestion, self._taken(skills))
                made += [self.propose(written)] if written is not None else []
            except SecretFound as error:  # the others can still be offered
                logger.warning("a workflow is not offered as a skill: %s", error)
        return tuple(made)

    def learn_as(self, name: str, skills: Sequence[Skill]) -> SkillOffer:
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
            said = self.write(suggestion) if self.write is not None else ""
        except AgentError as error:
            logger.info("a workflow waits for a model to be written as a skill: %s", error)
            return None
        written = read_written(suggestion, said, taken)
        if written is None and self.write is not None:
            tools, support = suggestion.tools, suggestion.support
            unwritten = SkillOffer(suggestion.key, self.vault.clock.new_id(), "", "", "", tools, support, "")
            save_offer(self.folder, replace(unwritten, status="unwritten", reason="the model's text was of no use"))
        return written

    def propose(self, suggestion: Suggestion) -> SkillOffer:
        """Write the note for one suggestion that has its name and text, in a commit; raises `UserError` if the skill
        was added or removed meanwhile."""
        now, number = self.vault.clock.now(), self.vault.clock.new_id()
        path = free_path(self.vault, f"{now:%Y-%m-%d}-skill-{suggestion.name}", {each.path for each in self.all()})
        skill = self.vault.home.at(f"{LEARNED}{suggestion.name}/{FILE}")
        base = self.vault.read(skill)
        if suggestion.changes and base is None:
            raise UserError(
                "there is no {skill} any more to add to", hint="vault-agent skills learn looks again", skill=skill
            )
        if not suggestion.changes and base is not None:
            raise UserError("{skill} exists already", hint="rename it, then: vault-agent skills learn", skill=skill)
        draft = extend_skill(suggestion, base, now) if base is not None else compose_skill(suggestion, now)
        offer = SkillOffer(
            suggestion.key,
            number,
            path,
            suggestion.name,
            skill,
            suggestion.tools,
            suggestion.support,
            draft.decode(),
            base.decode() if base is not None else None,
        )
        save_offer(self.folder, offer)  # before and after the note, so that a crash leaves no note without a record
        try:
            with self.vault.transaction(f"skills(suggest): {suggestion.name}", _STAMP) as change:
                change.create(path, compose_note(suggestion, draft, number, now, skill, base))
        except AgentError:
            delete_offer(self.folder, offer)
            raise
        return save_offer(self.folder, replace(offer, status="pending"))

    def accept(self, name: str) -> SkillOffer:
        """Accept the offer with this skill, note or id for the person: writes skill and answer in one commit.

        Raises `UserError` if no such offer waits.
        """
        return self._decide(self._waiting(name), True, "", Stamp("human"))

    def reject(self, name: str, why: str = "") -> SkillOffer:
        """Refuse an offer for the person; the workflow is offered again after twice as many runs."""
        return self._decide(self._waiting(name), False, " ".join(why.split())[:500], Stamp("human"))

    def settle(self) -> tuple[SkillOffer, ...]:
        """Apply the answers ticked in the notes; returns the decided offers.

        A deleted note is a refusal. An addition to a deleted skill is outdated.
        """
        decided: list[SkillOffer] = []
        for offer in self.pending():
            data = self.vault.own_version(offer.path)
            said = parse_decision(data) if data is not None and Note.parse(data).id == offer.id else None
            if data is None and not self.vault.queued:
                removed = replace(offer, status="rejected", reason="the note that asked was removed")
                decided.append(save_offer(self.folder, removed))
            elif said is not None and data is not None:
                decided.append(self._decide(offer, said, parse_reason(data), _STAMP))
            elif data is not None and offer.base is not None and self.vault.read(offer.skill) is None:
                decided.append(self._decide(offer, True, "", _STAMP))  # its base has changed: it becomes outdated
        return tuple(decided)

    def _waiting(self, name: str) -> SkillOffer:
        for offer in self.pending():
            if name in {offer.name, offer.path, offer.id}:
                return offer
        raise UserError("no suggestion {name} waits here", hint="vault-agent skills suggest lists them", name=name)

    def _decide(self, offer: SkillOffer, yes: bool, why: str, stamp: Stamp) -> SkillOffer:
        """Write the answer to the note and, after approval, the skill, in one commit; then to the record."""
        data = self.vault.read(offer.path)
        base = offer.base.encode() if offer.base is not None else None
        settled = replace(offer, status="accepted" if yes else "rejected", reason=why)
        if yes and data is not None and not shows(data, offer.draft.encode()):
            settled = replace(
                offer, status="outdated", reason="the draft in the note was changed; edit the skill instead"
            )
        elif yes and self.vault.read(offer.skill) != base:
            settled = replace(offer, status="outdated", reason=f"{offer.skill} has changed since")
        body = f"Decided in {offer.path}."
        with self.vault.transaction(f"skills({settled.status}): {offer.name}", stamp, body=body) as change:
            if settled.status == "accepted":
                change.write(offer.skill, base, offer.draft.encode())
            if data is not None and (after := _settled(data, settled, self.vault.clock.now())) is not None:
                change.edit(offer.path, data, after)
        return save_offer(self.folder, settled)

    def _taught(self, skills: Sequence[Skill]) -> Mapping[str, Sequence[ToolSequence]]:
        """By the path of a session that learned skills came from: their workflows."""
        found: dict[str, list[ToolSequence]] = {}
        for skill in skills:
            if skill.source is SkillSource.LEARNED and (tools := sequence_of(skill)):
                for link in Note.parse(self.vault.read(skill.path) or b"").strings("learned_from"):
                    found.setdefault(f"{link.removeprefix('[[').removesuffix(']]')}.md", []).append(tools)
        return found


def _settled(data: bytes, offer: SkillOffer, now: datetime) -> bytes | None:
    """The note with the answer; None if it cannot be parsed: the answer is then only in the record."""
    yes = None if offer.status == "outdated" else offer.status == "accepted"
    try:
        return settled_note(data, yes, offer.status, now, offer.reason).data
    except BadNote:
        return None


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


def offers_of(
    vault: Vault,
    language: Language = "en",
    traces: Callable[[], Sequence[WorkflowTrace]] = tuple,
    write: WriteSkill | None = None,
) -> SkillOffers:
    """The offers of a vault, with their records in its private folder; see `SkillOffers`."""
    return SkillOffers(vault, offer_records_folder(vault), language, traces, write)
