"""Writes down what the person is believed to prefer: at most one commit a day, by rules, without a model; and
shows the beliefs as documents for JSON.

What the person has taken out or changed is known by the history of the note, so there is no other state.
"""

import logging
from collections.abc import Iterator, Sequence

from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.growth.beliefs.blocks import NOTE, Belief, Identity, beliefs, block_changes, identity_of, parse_blocks
from agent.growth.beliefs.gather import Gathered, gather, ledger_body
from agent.growth.beliefs.sign import Sign, says
from agent.memory.blame import EDITS
from agent.memory.profile.changes import Proposed, propose_changes
from agent.memory.profile.note_edit import BlockChange
from agent.memory.profile.owner import TASK_KINDS
from agent.runs.owner import profile_writing
from agent.runs.status import growth_account
from agent.texts import Language, Sentence
from agent.tools.text_origin import text_origin_of
from agent.vault.change import Outcome, Stamp, actor_of
from agent.vault.history.commits import Commit
from agent.vault.history.versions import versions
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace, reload_settings

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PersonModel:
    """All beliefs about the person, the surest first, and what they rest on."""

    beliefs: tuple[Belief, ...]
    gathered: Gathered
    refused: frozenset[Identity] = frozenset()

    def is_refused(self, belief: Belief, language: Language) -> bool:
        """True if the person has changed or taken out the block of a belief."""
        return identity_of(belief, language) in self.refused

    @property
    def noted(self) -> tuple[Belief, ...]:
        """The beliefs that belong into the note: with enough signs, one of them more than words. What the person only
        stated is remembered in their own words, and what a line of theirs in the note says is said."""
        found = (each for each in self.beliefs if each.is_enough and each.dimension.key not in self.gathered.own)
        return tuple(each for each in found if any(sign.kind != "stated" for sign in (*each.signs, *each.against)))


@dataclass(frozen=True, slots=True)
class BeliefsLearned:
    """What was written: the blocks that changed, and the commit."""

    blocks: tuple[BlockChange, ...] = ()
    outcome: Outcome = Outcome()


def person_model(workspace: Workspace) -> PersonModel:
    """What the person is believed to prefer now; writes nothing."""
    vault, now = workspace.vault, workspace.clock.now()
    with_edits = workspace.settings.memory.learn_from_edits
    gathered = gather(vault, now, text_origin_of(vault), with_edits=with_edits)
    path = vault.home.at(NOTE)
    refused = _refused(vault, path, gathered.made, vault.read(path) or b"")
    return PersonModel(beliefs(gathered.signals, now.date()), gathered, refused)


def learn_beliefs(workspace: Workspace, job: str = growth_account("beliefs")) -> BeliefsLearned:
    """Bring the note of preferences up to date, in one commit, at most once a day; nothing if that has to wait, or the
    settings want no growth."""
    if not workspace.settings.growth.enabled:
        return BeliefsLearned()
    try:
        model = person_model(workspace)
        if _was_today(workspace, model.gathered.made):
            return BeliefsLearned()
        proposed = _proposed(workspace, model)
        if not proposed.blocks:
            return BeliefsLearned()
        count = len(proposed.blocks)
        one = "memory(beliefs): 1 line on what the person prefers"
        more = "memory(beliefs): {count} lines on what the person prefers"
        subject = Sentence(one if count == 1 else more, count=count)
        stamp = Stamp(actor_of(job), tool=EDITS)
        body = ledger_body(model.gathered.new, model.gathered.up_to)
        with workspace.vault.transaction(subject, stamp, body=body, masked=True) as change:
            change.requests += proposed.requests
        return BeliefsLearned(proposed.blocks, change.outcome)
    except AgentError as error:
        logger.warning("what the person prefers has to wait: %s", error.message)
        return BeliefsLearned()


def lines_learned(workspace: Workspace) -> int:
    """The same, for callers who want the number of blocks that changed, with the settings as they are now."""
    return len(learn_beliefs(reload_settings(workspace)).blocks)


def _was_today(workspace: Workspace, made: Sequence[Commit]) -> bool:
    now = workspace.clock.now()
    return bool(made) and in_clock_zone(made[0].when, now).date() >= now.date()


def _proposed(workspace: Workspace, model: PersonModel) -> Proposed:
    """The changes of the note, through the profile's door."""
    vault, language = workspace.vault, workspace.settings.vault.language
    path = vault.home.at(NOTE)
    base = vault.read(path)
    if vault.own_version(path) != base:
        return Proposed()
    note = (base or b"").decode("utf-8", "surrogateescape")
    changes = block_changes(note, model.noted, model.refused, language)
    return propose_changes(profile_writing(workspace), [*changes])


def _refused(vault: Vault, path: str, made: Sequence[Commit], now: bytes) -> frozenset[Identity]:
    """The blocks that the person has changed or taken out: those that one of the program's commits left and that were
    gone before the next one, or are gone now."""
    if not made:
        return frozenset()
    asked = [(each.id, path) for each in made] + [(f"{each.id}^", path) for each in made[:-1]]
    found = [each.data if each is not None else b"" for each in versions(vault, asked)]
    left, met = found[: len(made)], [now, *found[len(made) :]]
    return frozenset(each for wrote, then in zip(left, met, strict=True) for each in _gone(wrote, then))


def _gone(wrote: bytes, then: bytes) -> Iterator[Identity]:
    there = set(_text(then).splitlines())
    for block in parse_blocks(_text(wrote)):
        if block.rows[0] not in there:
            yield block.identity


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def belief_document(belief: Belief, language: Language, path: str | None, *, refused: bool) -> dict[str, object]:
    """A belief with all of its figures. `path` is the note that has it; None while none has."""
    dimension = belief.dimension
    return {
        "id": dimension.id,
        "kind": dimension.kind,
        "topic": dimension.topic,
        "value": belief.value,
        "belief": says(dimension, belief.value, language),
        "confidence": round(belief.confidence, 4),
        "evidence_count": len(belief.signs),
        "contradictions": len(belief.against),
        "last_updated": belief.newest.isoformat(),
        "tasks": [kind for kind in TASK_KINDS if kind in belief.tasks],
        "enough": belief.is_enough,
        "told": belief.is_used and not refused,
        "confirmed": belief.is_confirmed,
        "doubted": belief.is_doubted,
        "refused": refused,
        "path": path,
        "evidence": [_written(each) for each in belief.signs],
        "against": [_written(each) for each in belief.against],
    }


def model_document(vault: Vault, model: PersonModel, language: Language) -> dict[str, object]:
    """All that is believed about the person."""
    path, noted = vault.home.at(NOTE), noted_ids(vault)
    rows = [
        belief_document(
            each, language, path if each.dimension.id in noted else None, refused=model.is_refused(each, language)
        )
        for each in model.beliefs
    ]
    return {"beliefs": rows, "silent": model.gathered.silent}


def noted_ids(vault: Vault) -> frozenset[str]:
    """The ids of the beliefs that the note of preferences has."""
    return frozenset(each.line.id for each in parse_blocks(_text(vault.read(vault.home.at(NOTE)) or b"")))


def _written(sign: Sign) -> str:
    """The evidence as a note's header has it; what was changed, where there is no quotation of the person's."""
    evidence = sign.evidence.written
    return evidence if sign.evidence.quote or not sign.excerpt else f"{evidence} {sign.excerpt}"
