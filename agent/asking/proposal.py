"""The values of what wants a yes or a no: one record for every kind. Pure."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Literal, TypeAlias, cast, get_args

from agent.dataclass import dataclass

ProposalKind: TypeAlias = Literal[
    "call",
    "skill_review",
    "skill_offer",
    "arrived_note",
    "arrived_files",
    "remote",
    "job",
    "rule",
    "mutation",
    "own_file",
    "remote_wait",
    "conflict",
]
"""What is asked about. A new kind is a word here and a row in `runs.kinds`: all interfaces show and decide it."""
TextKind: TypeAlias = Literal["rule", "mutation"]
"""The kinds whose yes writes what the note shows, and nothing else."""
ChoiceKind: TypeAlias = Literal["remote_wait", "conflict"]
"""What sync asks about in `questions/`: these are answered by their `choices`, and the meaning is the `reason`."""
ProposalStatus: TypeAlias = Literal["asking", "pending", "approved", "used", "rejected", "expired", "outdated"]
"""`asking`: its note may not be written yet. `used`: the yes was for one time, and that was. `expired`: nobody answered
in time. `outdated`: what the note shows, or what it asks about, has changed since."""


@dataclass(frozen=True, slots=True)
class ProposedNote:
    """A note as it would be: all of its `text`, in place of `base` (None: there is no such note yet).

    With a `head` both are one row of its list, whatever else becomes of the note meanwhile; it begins with `head` if it
    is missing.
    """

    path: str
    text: str
    base: str | None = None
    head: str | None = None


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
    notes: tuple[ProposedNote, ...] = ()
    sections: tuple[tuple[str, str], ...] = ()
    evidence: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    actor: str = "agent"
    holds: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One question of this machine that wants a yes or a no, in the note at `path` with the id `id`.

    `name` says what it is about: the tool of a call, the skill, the arrived note, the address of a remote, the job.
    What a yes is for is exact: `subject` is a fingerprint of it, `shown` the words that the note must still show,
    `notes` are the texts that a yes writes, and `bases` the contents (path, content id) of what it would change (empty:
    no note yet). `why` and `change` are told to the person. `choices` are boxes with their meanings, where there are
    more than yes and no. Of those with the same kind and `key`, the last one counts; empty: the id.

    `actor`, `run`, `session` and `call` say who asks. `reason` is the person's, or why it is outdated. Of a decided
    one, only the paths of its `notes` are kept. `is_taken`: its kind has acted upon the answer.
    """

    kind: ProposalKind
    name: str
    path: str
    id: str
    created: datetime
    question: str = ""
    key: str = ""
    subject: str = ""
    shown: str = ""
    notes: tuple[ProposedNote, ...] = ()
    bases: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    change: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    actor: str = "agent"
    run: str = ""
    session: str = ""
    call: str = ""
    expires: datetime | None = None
    status: ProposalStatus = "asking"
    reason: str = ""
    is_taken: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The notes that a yes would change or create."""
        return (*self.bases, *(each.path for each in self.notes))


_WORDS = ("name", "path", "id", "question", "key", "subject", "shown", "why", "change", "actor", "run", "session")


def parse_proposal(row: dict[str, object]) -> Proposal:
    """The record in a JSON document; raises `ValueError`, `KeyError` or `TypeError` for a damaged one."""
    kind, status, expires, notes = row["kind"], row["status"], row["expires"], row["notes"]
    if kind not in get_args(ProposalKind) or status not in get_args(ProposalStatus) or not isinstance(notes, list):
        raise ValueError(row)
    words = {name: str(row[name]) for name in (*_WORDS, "call", "reason")}
    return Proposal(
        kind=cast(ProposalKind, kind),
        status=cast(ProposalStatus, status),
        created=datetime.fromisoformat(str(row["created"])),
        expires=None if expires is None else datetime.fromisoformat(str(expires)),
        notes=parse_notes(notes),
        bases=parse_words(row["bases"]),
        facts=parse_words(row["facts"]),
        choices=parse_words(row.get("choices", {})),
        is_taken=row["is_taken"] is True,
        **words,
    )


def parse_notes(rows: list[dict[str, object]]) -> tuple[ProposedNote, ...]:
    """The proposed notes in a JSON document; raises as `parse_proposal` does."""
    return tuple(
        ProposedNote(str(each["path"]), str(each["text"]), _text_or_none(each["base"]), _text_or_none(each.get("head")))
        for each in rows
    )


def _text_or_none(value: object) -> str | None:
    return None if value is None else str(value)


def parse_words(value: object) -> dict[str, str]:
    """Words by their names in a JSON document; raises `TypeError` for anything else."""
    if not isinstance(value, dict):
        raise TypeError(value)
    return {str(key): str(each) for key, each in value.items()}
