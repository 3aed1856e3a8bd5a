"""The note that asks for a yes or a no: two boxes, why it is asked, and below them what exactly a yes is for. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from agent.asking.proposal import Proposal, ProposalDraft, ProposalKind, ProposedNote
from agent.escape import escape
from agent.markdown.blocks import format_fenced
from agent.markdown.checkbox_decision import format_boxes, reason_label
from agent.markdown.note import Note
from agent.markdown.yaml_write import Header, Value
from agent.texts import Language, text
from agent.vault.history.line_diff import line_diff

TYPE = "proposal"
NOTHING: Mapping[str, Value] = MappingProxyType({})
_KIND = "proposes"


def compose_question(
    header: Header,
    question: str,
    why: str,
    holds: str,
    sections: Sequence[tuple[str, str]],
    language: Language,
) -> bytes:
    """The one form of such a note, unanswered; `sections` are headings, each with its text."""
    parts = [f"# {question}", why, format_boxes(language), reason_label(language), holds]
    parts += [part for heading, words in sections for part in (f"## {heading}", words)]
    return Note.compose(header, "\n\n".join(parts) + "\n").data


def compose_proposal(
    draft: ProposalDraft, id: str, when: datetime, language: Language, more: Mapping[str, Value] = NOTHING
) -> bytes:
    """The note about a draft; `more` are keys of its header besides those of the form."""
    header: dict[str, Value] = {"id": id, "type": TYPE, _KIND: word_of(draft.kind), "about": draft.name}
    header |= {"created": when.replace(microsecond=0), "status": "pending", **draft.facts, **more}
    if draft.evidence:
        header["evidence"] = list(draft.evidence)
    sections = [section for note in draft.notes for section in _note_sections(note, language)]
    holds = draft.holds or _holds(draft, language)
    return compose_question(header, draft.question, draft.why, holds, (*draft.sections, *sections), language)


def shows(data: bytes, asked: Proposal) -> bool:
    """True if the note shows, unchanged, all that a yes would be for."""
    content = data.decode("utf-8", "replace").replace("\r\n", "\n")
    call = [format_fenced(asked.shown, "json")] if asked.shown else []
    return all(each in content for each in (*call, *map(_fenced, asked.notes)))


def word_of(kind: ProposalKind) -> str:
    """The word for a kind in the names and headers of notes."""
    return kind.removesuffix("_offer")


def kind_of(note: Note) -> str:
    """The kind of proposal in a note; empty if it is none."""
    return (note.string(_KIND) or "") if note.type == TYPE else ""


def _holds(draft: ProposalDraft, language: Language) -> str:
    comma = text("proposal.comma", language)
    paths = comma.join(f"`{note.path}`" for note in draft.notes)
    return text("proposal.holds" if draft.notes else "proposal.holds_nothing", language, paths=paths)


def _note_sections(note: ProposedNote, language: Language) -> list[tuple[str, str]]:
    key = "row" if note.head is not None else "new" if note.base is None else "whole"
    heading = text(f"proposal.{key}", language, path=note.path)
    sections = [(heading, _fenced(note))]
    if note.base is not None:
        diff = line_diff(note.base.encode(), note.text.encode(), context=2)[2:]  # without the names of the versions
        changed = format_fenced(escape("\n".join(diff)), "diff")
        sections.insert(0, (text("proposal.change", language, path=note.path), changed))
    return sections


def _fenced(note: ProposedNote) -> str:
    return format_fenced(escape(note.text.rstrip()), "markdown")
