"""The values of a proposal, and its record on this machine. Pure but for `proposal_records`."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from agent.dataclass import dataclass
from agent.vault.record_folder import RecordFolder
from agent.vault.store import Vault

ProposalKind: TypeAlias = Literal["rule", "mutation", "skill", "job"]
"""What is proposed. A new kind is a word here: all interfaces show and decide it by its question. The notes about
learned skills and runs of jobs have this form too; their records and what follows from them are their rooms' own."""
ProposalStatus: TypeAlias = Literal["asking", "pending", "approved", "rejected", "outdated"]
"""`asking`: its note may not be written yet. `outdated`: the text in the note, or a note that would be changed, has
changed since."""


@dataclass(frozen=True, slots=True)
class ProposedNote:
    """A note as it would be: all of its `text`, in place of `base` (None: there is no such note yet)."""

    path: str
    text: str
    base: str | None = None


@dataclass(frozen=True, slots=True)
class ProposalDraft:
    """What somebody wants to propose.

    `name` says in a few words what it is about, `question` asks for the yes in one line, and `why` says what it rests
    on: both in the person's language, as Markdown without boxes. `holds` says what a yes and a no mean; empty: what the
    form says itself. `sections` are more to read, each a heading with its text. `notes` are written after a yes, all in
    one commit, in the name of `actor`; without any, the yes is all that is asked for. `evidence` are links
    (`[[note]]`). `facts` are words by which its kind knows it again; they stand in the note's header too, so that a
    refusal is known in other clones.
    """

    kind: ProposalKind
    name: str
    question: str
    why: str
    notes: tuple[ProposedNote, ...]
    sections: tuple[tuple[str, str], ...] = ()
    evidence: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    actor: str = "agent"
    holds: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One proposal of this machine, in the note at `path` with the id `id`.

    `reason` is the person's, or why it is outdated. Of a decided one, only the paths of its `notes` are kept.
    `is_taken`: its kind has acted upon the answer (`mark_taken`).
    """

    kind: ProposalKind
    name: str
    question: str
    notes: tuple[ProposedNote, ...]
    path: str
    id: str
    created: datetime
    facts: Mapping[str, str] = field(default_factory=dict)
    actor: str = "agent"
    status: ProposalStatus = "asking"
    reason: str = ""
    is_taken: bool = False


def proposal_records(vault: Vault) -> RecordFolder[Proposal]:
    """The proposals that were made on this machine, from the vault's private files."""
    return RecordFolder(vault.private_folder / "proposals", _parsed)


def _parsed(row: dict[str, object]) -> Proposal:
    kind = next(each for each in get_args(ProposalKind) if each == row["kind"])
    status = next(each for each in get_args(ProposalStatus) if each == row["status"])
    name, question, path, id, actor, reason = (
        str(row[key]) for key in ("name", "question", "path", "id", "actor", "reason")
    )
    notes, facts = row["notes"], row["facts"]
    if not isinstance(notes, list) or not isinstance(facts, dict):
        raise TypeError(row)
    proposed = tuple(
        ProposedNote(str(each["path"]), str(each["text"]), None if each["base"] is None else str(each["base"]))
        for each in notes
    )
    said = {str(key): str(value) for key, value in facts.items()}
    created = datetime.fromisoformat(str(row["created"]))
    return Proposal(
        kind, name, question, proposed, path, id, created, said, actor, status, reason, row["is_taken"] is True
    )
