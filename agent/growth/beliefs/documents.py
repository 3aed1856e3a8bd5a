"""Beliefs as documents for JSON, the same for every interface; when each changed last is taken from the history."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from agent.growth.beliefs.blocks import NOTE, Belief, parse_blocks
from agent.growth.beliefs.learn import PersonModel
from agent.growth.beliefs.sign import Sign, says
from agent.memory.profile.owner import TASK_KINDS
from agent.texts import Language
from agent.vault.history.commits import blame, read_commits
from agent.vault.store import Vault


def belief_document(
    belief: Belief, language: Language, changed: Mapping[str, datetime], path: str, refused: bool
) -> dict[str, object]:
    """A belief with all of its figures. `path` is the note that has it; None while none has."""
    dimension = belief.dimension
    at = changed.get(dimension.id)
    return {
        "id": dimension.id,
        "kind": dimension.kind,
        "topic": dimension.topic,
        "value": belief.value,
        "belief": says(dimension, belief.value, language),
        "confidence": round(belief.confidence, 4),
        "evidence_count": len(belief.signs),
        "contradictions": len(belief.against),
        "last_updated": at.isoformat() if at else None,
        "tasks": [kind for kind in TASK_KINDS if kind in belief.tasks],
        "enough": belief.is_enough,
        "told": belief.is_told and not refused,
        "confirmed": belief.is_confirmed,
        "doubted": belief.is_doubted,
        "refused": refused,
        "path": path if at else None,
        "evidence": [_written(each) for each in belief.signs],
        "against": [_written(each) for each in belief.against],
    }


def model_document(vault: Vault, model: PersonModel, language: Language) -> dict[str, object]:
    """All that is believed about the person."""
    changed = last_changed(vault)
    path = vault.home.at(NOTE)
    rows: Sequence[dict[str, object]] = [
        belief_document(each, language, changed, path, model.is_refused(each, language)) for each in model.beliefs
    ]
    return {"beliefs": rows, "silent": model.gathered.silent}


def last_changed(vault: Vault) -> dict[str, datetime]:
    """When the block of each belief changed last, by the id of its dimension."""
    path = vault.home.at(NOTE)
    rows = blame(vault, path, any_space=True)
    blocks = {each.rows: each.line.id for each in parse_blocks("\n".join(row for row, _ in rows))}
    if not blocks:
        return {}
    whens = {each.id: each.when for each in read_commits(vault, sorted({commit for _, commit in rows}))}
    texts = [row for row, _ in rows]
    found: dict[str, datetime] = {}
    for lines, id in blocks.items():
        first = texts.index(lines[0])
        dates = [whens[commit] for _, commit in rows[first : first + len(lines)] if commit in whens]
        if dates:
            found[id] = max(dates)
    return found


def _written(sign: Sign) -> str:
    """The evidence as a note's header has it; what was changed, where there is no quotation of the person's."""
    evidence = sign.evidence.written
    return evidence if sign.evidence.quote or not sign.shown else f"{evidence} {sign.shown}"
