"""The note of a proposal: two boxes, what it rests on, and below them the exact texts that a yes writes. Pure."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from agent.asking.proposal import ProposalDraft, ProposedNote
from agent.escape import escape
from agent.markdown.blocks import format_fenced
from agent.markdown.checkbox_decision import BOXES, reason_label
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.texts import Language, text
from agent.vault.history.line_diff import line_diff

TYPE = "proposal"
NOTHING: Mapping[str, Value] = MappingProxyType({})
_KIND = "proposes"


def compose_proposal(
    draft: ProposalDraft, id: str, when: datetime, language: Language, more: Mapping[str, Value] = NOTHING
) -> bytes:
    """The note that asks, unanswered; `more` are keys of its header besides those of the form."""
    holds = draft.holds or _holds(draft, language)
    parts = [f"# {draft.question}", draft.why, BOXES, reason_label(language), holds]
    for heading, words in draft.sections:
        parts += [f"## {heading}", words]
    for note in draft.notes:
        parts += _shown_note(note, language)
    header: dict[str, Value] = {"id": id, "type": TYPE, _KIND: draft.kind, "about": draft.name}
    header |= {"created": when.replace(microsecond=0), "status": "pending", **draft.facts, **more}
    if draft.evidence:
        header["evidence"] = list(draft.evidence)
    return Note.compose(header, "\n\n".join(parts) + "\n").data


def shows(data: bytes, notes: tuple[ProposedNote, ...]) -> bool:
    """True if the note shows all of the proposed texts unchanged."""
    said = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return all(_shown(note) in said for note in notes)


def kind_of(note: Note) -> str:
    """The kind of proposal in a note; empty if it is none."""
    return (note.string(_KIND) or "") if note.type == TYPE else ""


def _holds(draft: ProposalDraft, language: Language) -> str:
    comma = text("proposal.comma", language)
    paths = comma.join(f"`{note.path}`" for note in draft.notes)
    return text("proposal.holds" if draft.notes else "proposal.holds_nothing", language, paths=paths)


def _shown_note(note: ProposedNote, language: Language) -> list[str]:
    heading = text("proposal.new" if note.base is None else "proposal.whole", language, path=note.path)
    parts = [f"## {heading}", _shown(note)]
    if note.base is not None:
        diff = line_diff(note.base.encode(), note.text.encode(), context=2)[2:]  # without the names of the versions
        changed = format_fenced(escape("\n".join(diff)), "diff")
        parts = [f"## {text('proposal.change', language, path=note.path)}", changed, *parts]
    return parts


def _shown(note: ProposedNote) -> str:
    return format_fenced(escape(note.text.rstrip()), "markdown")
