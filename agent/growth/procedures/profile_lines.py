"""What procedures write about the person: everything goes through the one door, `memory.profile.changes`."""

import re
from collections.abc import Iterable, Sequence

from agent.growth.procedures.procedure import ProcedureContext
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.profile.block_change import BlockChange
from agent.memory.profile.changes import ProfileChange, Proposed, Writing, propose_changes
from agent.memory.profile.evidence import Evidence, completed
from agent.memory.profile.profile_file import field_in
from agent.memory.profile.statements import settle_profile_questions

_MOST = 12
"""The most lines of one answer."""
_TAIL = re.compile(r"\s*[(（]?(?P<evidence>\[\[[^\n]*?)[)）]?\s*\.?\s*$")
_CITED = re.compile(
    r"\[\[(?P<note>[^\]|#\n]+)[^\]\n]*\]\](?:,?\s*(?P<day>\d{4}-\d\d-\d\d))?"
    r"(?:[:,]?\s*[\"“](?P<quote>[^\"”\n]+)[\"”])?"
)


def writing_of(context: ProcedureContext) -> Writing:
    """Where and for whom a procedure writes."""
    consent = context.runs.workspace.settings.profile.sensitive
    is_forgotten = load_tombstones(context.vault).is_forgotten
    return Writing(context.vault, context.language, context.now, is_forgotten, consent, context.actor)


def propose(context: ProcedureContext, changes: Iterable[ProfileChange | BlockChange]) -> Proposed:
    """What comes of changes; first what the person has answered in questions about the profile is carried out, and
    then nothing else, as it may change the same notes."""
    writing = writing_of(context)
    settled = settle_profile_questions(writing)
    return settled if settled.requests else propose_changes(writing, changes)


def changes_in_answer(context: ProcedureContext, name: str, answer: str, heading: str) -> tuple[ProfileChange, ...]:
    """The changes of a note that a model's answer proposes: its list items that cite a note. `- **Label**: value`
    fills a field; an entry that is cited without a quotation is quoted by the program."""
    rows = (row.strip() for row in answer.splitlines() if row.lstrip().startswith(("- ", "* ")))
    found = (_change(context, name, row, heading) for row in dict.fromkeys(rows))
    return tuple(each for each in found if each is not None)[:_MOST]


def counted_changes(name: str, heading: str, lines: Sequence[str]) -> tuple[ProfileChange, ...]:
    """The changes that add what the program has counted, each line with the links that it rests on at its end."""
    changes: list[ProfileChange] = []
    for line in lines:
        words, evidence = _split(line)
        if words and evidence:
            plain = tuple(Evidence(each.note) for each in evidence)
            changes.append(ProfileChange(name, words, plain, heading=heading, is_counted=True))
    return tuple(changes)


def observed_in_answer(name: str, heading: str, answer: str) -> tuple[ProfileChange, ...]:
    """The same for a model's list items about what repeats."""
    rows = (row.strip()[2:] for row in answer.splitlines() if row.lstrip().startswith(("- ", "* ")))
    return counted_changes(name, heading, tuple(dict.fromkeys(rows))[:_MOST])


def shown(changes: Iterable[ProfileChange]) -> tuple[str, ...]:
    """The changes as lines, each with its links."""
    return tuple(
        f"{f'{each.field}: ' if each.field else ''}{each.line}"
        f" ({' '.join(dict.fromkeys(one.link for one in each.evidence))})"
        for each in changes
    )


def _change(context: ProcedureContext, name: str, row: str, heading: str) -> ProfileChange | None:
    words, evidence = _split(row[2:])
    if not words or not evidence:
        return None
    cited = tuple(completed(context.vault, each) for each in evidence)
    field = field_in(f"- {words}") if words.startswith("**") else None
    if field is not None and field[2]:
        return ProfileChange(name, field[2], cited, field=field[1], heading=heading)
    return ProfileChange(name, words, cited, heading=heading)


def _split(line: str) -> tuple[str, tuple[Evidence, ...]]:
    """The words of a line, and the evidence at its end."""
    found = _TAIL.search(line)
    if found is None:
        return line, ()
    cited = _CITED.finditer(found["evidence"])
    evidence = tuple(Evidence(each["note"].strip(), each["quote"] or "", each["day"] or "") for each in cited)
    return line[: found.start()].strip(), evidence
