"""Learned skills on their way in: offered in a note in `approvals/`, decided by a ticked box or a command, kept.

Nothing is written to `skills/learned/` without a yes that was asked for on this machine: a note that a pull brought
with its box ticked has no record here, and one whose draft was changed counts as unanswered. A skill that is there is
never overwritten: longer workflows are offered as additions to it. Finding workflows is `learner`'s, the note's text
is `suggestion`'s.
"""

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeAlias

from agent.errors import AgentError, BadNote, SecretFound, UserError
from agent.markdown.note import Note
from agent.markdown.verdict import reason, ticked
from agent.skills.learner import Tombstone, suggestions
from agent.skills.offered import Offer, offered, records_of, waiting
from agent.skills.skill import FILE, Skill, Source
from agent.skills.suggestion import (
    TYPE,
    Suggestion,
    compose_note,
    compose_skill,
    decision,
    extend_skill,
    plain_body,
    shows,
)
from agent.skills.traces import read_traces
from agent.vault import durable
from agent.vault.folders import APPROVALS, DEPRECATED, LEARNED
from agent.vault.store import Vault
from agent.vault.write.change import Stamp

MOST_AT_ONCE = 3
"""Offers that wait at the same time: more would be noise."""
LONGEST_BODY = 12_000
"""Characters of a body that a model wrote."""
logger = logging.getLogger(__name__)
_STAMP = Stamp("agent", tool="skill_learner")
_FENCE = re.compile(r"\A\s*```[a-z]*\n(.*)\n```\s*\Z", re.DOTALL)

Write: TypeAlias = Callable[[Suggestion], str]
"""Asks a model for the instructions (`prompts/skill.md`); raises an `AgentError` where that fails."""


@dataclass(frozen=True, slots=True)
class Offers:
    """The offers of one vault; `folder` holds their records, outside the vault; `language` is that of their notes."""

    vault: Vault
    folder: Path
    language: str = "en"

    def all(self) -> tuple[Offer, ...]:
        """Every offer that this machine has made and not forgotten, oldest first; a broken record offers nothing."""
        return offered(self.folder)

    def pending(self) -> tuple[Offer, ...]:
        """The offers that wait for a yes or a no."""
        return waiting(self.vault, self.folder)

    def tombstones(self) -> tuple[Tombstone, ...]:
        """What is not wanted: workflows that were refused, here or in another clone, undone, or deprecated."""
        gone = [offer for offer in self.all() if offer.status == "accepted" and self.vault.read(offer.skill) is None]
        refused = [offer for offer in self.all() if offer.status == "rejected"]
        found = [Tombstone(offer.tools, offer.support) for offer in [*gone, *refused]]
        for path in self.vault.note_paths():
            if path.startswith((APPROVALS, DEPRECATED)):
                found += _tombstone(path, self.vault.read(path) or b"")
        return tuple(dict.fromkeys(found))

    def suggest(self, skills: Sequence[Skill]) -> tuple[Suggestion, ...]:
        """What could be learned from the vault's runs by now; offers that wait already are left out, and so are the
        runs that a learned skill came from: they have taught what they had to."""
        waiting = self.pending()
        known = {offer.key for offer in waiting}
        taken = [offer.name for offer in waiting]
        taught = self._taught(skills)
        fresh = [trace for trace in read_traces(self.vault) if trace.path not in taught]
        found = suggestions(fresh, skills, self.tombstones(), taken, self.language)
        return tuple(each for each in found if each.key not in known)

    def learn(self, skills: Sequence[Skill], write: Write | None = None) -> tuple[Offer, ...]:
        """Offer what could be learned, the most telling first, at most three at a time. `write` asks a model for the
        text; without one, or where it fails, the text is made from the traces."""
        room = MOST_AT_ONCE - len(self.pending())
        if room <= 0:  # asked after every run that uses tools: all traces would be read for nothing
            return ()
        made: list[Offer] = []
        for suggestion in self.suggest(skills)[:room]:
            try:
                made.append(self.propose(suggestion, write))
            except SecretFound as error:  # the others can be offered all the same
                logger.warning("%s is not offered as a skill: %s", suggestion.name, error)
        return tuple(made)

    def propose(self, suggestion: Suggestion, write: Write | None = None) -> Offer:
        """Put one suggestion to the person, in a note and a commit."""
        now, number = self.vault.clock.now(), self.vault.clock.new_id()
        path = f"{APPROVALS}{now:%Y-%m-%d}-skill-{suggestion.name}-{number[-6:].lower()}.md"
        skill = f"{LEARNED}{suggestion.name}/{FILE}"
        base = self.vault.read(skill)
        if suggestion.changes and base is None:
            raise UserError(f"there is no {skill} any more to add to", hint="vault-agent skills learn looks again")
        if not suggestion.changes and base is not None:
            raise UserError(f"{skill} exists already", hint="rename it, then: vault-agent skills learn")
        if base is not None:
            draft = extend_skill(suggestion, base, now)
        else:
            draft = compose_skill(suggestion, _body(suggestion, write), now)
        offer = Offer(
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
        self._put(offer)  # before the note, and again after it: a crash in between asks nothing, or all of it
        try:
            with self.vault.transaction(f"skills(suggest): {suggestion.name}", _STAMP) as change:
                change.create(path, compose_note(suggestion, draft, number, now))
        except AgentError:
            self._file(offer).unlink(missing_ok=True)
            raise
        return self._keep(replace(offer, status="pending"))

    def accept(self, name: str) -> Offer:
        """Say yes in the person's name to the offer of this skill, note or id: the skill and the settled note are one
        commit. Raises `UserError` where nothing of that name waits."""
        return self._decide(self._waiting(name), True, "", Stamp("human"))

    def reject(self, name: str, why: str = "") -> Offer:
        """Say no in the person's name; the workflow is not offered again until it has been followed twice as often."""
        return self._decide(self._waiting(name), False, " ".join(why.split())[:500], Stamp("human"))

    def settle(self) -> tuple[Offer, ...]:
        """Carry out what was ticked in the notes; the offers that were decided. A note that was removed is a no, and
        where the skill that it would change is gone, there is nothing left to ask."""
        decided: list[Offer] = []
        for offer in self.pending():
            data = self.vault.own_version(offer.path)
            said = decision(data) if data is not None and Note.parse(data).id == offer.id else None
            if data is None and not self.vault.writer.queue.count():
                decided.append(self._keep(replace(offer, status="rejected", reason="the note that asked was removed")))
            elif said is not None and data is not None:
                decided.append(self._decide(offer, said, reason(data), _STAMP))
            elif data is not None and offer.base is not None and self.vault.read(offer.skill) is None:
                decided.append(self._decide(offer, True, "", _STAMP))  # to something that has changed: it is outdated
        return tuple(decided)

    def _waiting(self, name: str) -> Offer:
        for offer in self.pending():
            if name in {offer.name, offer.path, offer.id}:
                return offer
        raise UserError(f"no suggestion {name} waits here", hint="vault-agent skills suggest lists them")

    def _decide(self, offer: Offer, yes: bool, why: str, stamp: Stamp) -> Offer:
        """Settle an offer in its note, and write the skill after a yes, in one commit; then in our record."""
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
            if settled.status == "accepted" and base is None:
                change.create(offer.skill, offer.draft.encode())
            elif settled.status == "accepted" and base is not None:
                change.edit(offer.skill, base, offer.draft.encode())
            if data is not None and (after := _settled(data, settled)) is not None:
                change.edit(offer.path, data, after)
        return self._keep(settled)

    def _taught(self, skills: Sequence[Skill]) -> frozenset[str]:
        """The entries that learned skills came from."""
        learned = [Note.parse(self.vault.read(skill.path) or b"") for skill in skills if skill.source is Source.LEARNED]
        links = [link for note in learned for link in note.strings("learned_from")]
        return frozenset(f"{link.removeprefix('[[').removesuffix(']]')}.md" for link in links)

    def _keep(self, offer: Offer) -> Offer:
        self._put(offer)
        return offer

    def _put(self, offer: Offer) -> None:
        """Keep the record; durable when this returns."""
        durable.replace(self._file(offer), json.dumps(asdict(offer), indent=1))

    def _file(self, offer: Offer) -> Path:
        return self.folder / f"{offer.id}.json"


def _body(suggestion: Suggestion, write: Write | None) -> str:
    """The instructions, by a model where there is one and what it says is of use."""
    if write is None:
        return plain_body(suggestion)
    try:
        said = write(suggestion).strip()
    except AgentError:
        return plain_body(suggestion)  # a model that is away must not keep the person from being asked
    fence = _FENCE.match(said)
    text = (fence[1] if fence else said).strip()
    is_usable = 0 < len(text) <= LONGEST_BODY and not text.startswith("---") and "\0" not in text
    return text if is_usable and any(tool in text for tool in suggestion.tools) else plain_body(suggestion)


def _settled(data: bytes, offer: Offer) -> bytes | None:
    """The note with the decision in it; None for one that cannot be changed, which the record outweighs."""
    yes = offer.status == "accepted"
    try:
        marked = ticked(data, yes, offer.reason) if offer.status != "outdated" else data
        return Note.parse(marked).with_key("status", offer.status).data
    except BadNote:
        return None


def _tombstone(path: str, data: bytes) -> Iterator[Tombstone]:
    note = Note.parse(data)
    if path.startswith(APPROVALS) and note.type == TYPE and note.string("status") == "rejected":
        support = note.header.get("support")
        if note.strings("sequence") and isinstance(support, int):
            yield Tombstone(note.strings("sequence"), support)
    elif path.startswith(DEPRECATED) and path.endswith(f"/{FILE}"):
        metadata = note.header.get("metadata")
        sequence = str(metadata.get("sequence", "")) if isinstance(metadata, Mapping) else ""
        if sequence:
            yield Tombstone(tuple(sequence.split(",")), max(len(note.strings("learned_from")), 1))


def offers_of(vault: Vault, language: str = "en") -> Offers:
    """The offers of a vault, with their records among its private files."""
    return Offers(vault, records_of(vault), language)
