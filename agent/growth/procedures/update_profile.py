"""`update_profile`: adds to a note in `profile/` what the person has said, each line with a link to where."""

from collections.abc import Iterator, Sequence

from agent.growth.procedures.material import days_before, quote, stated, title_of, words_of
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.growth.procedures.profile_lines import add_lines, new_lines, without_known
from agent.markdown.note import Note
from agent.memory.store import StoredEntry
from agent.memory.understanding.seam import FactKind
from agent.memory.understanding.statements import kind_of
from agent.vault.folders import PROFILE

MODEL: ModelPart = "instead"
WRITES: tuple[str, ...] = ()
_DAYS = 30
"""How far back the plain form looks for what was said."""
_NOTES = {
    FactKind.SELF: "00-basic-info",
    FactKind.HEALTH: "32-health-wellness",
    FactKind.PERSON: "40-relationships",
    FactKind.PREFERENCE: "31-preferences",
    FactKind.DECISION: "22-goals-aspirations",
    FactKind.WORKFLOW: "30-daily-patterns",
    FactKind.OTHER: "50-key-memories",
}
"""The note about the person in which a kind of statement belongs."""


def plain(context: ProcedureContext) -> Work:
    """Quote what the person has said lately and what belongs into the note, each quotation with its entry."""
    found = stated(context, days_before(context.today, _DAYS))
    name = target_of(context, found)
    belonging = [(f"{quote(each.entry.text)} ({each.link})", each.link) for each in _belonging(context, name, found)]
    lines = without_known(context, name, belonging)
    if not lines:
        return Work()
    says = context.text("profile_quoted", count=len(lines), link=_link(context, name))
    if context.runs.present:  # the model is given the quotations
        return Work("\n".join([says, *(f"- {line}" for line in lines)]))
    return Work(says, add_lines(context, name, context.text("own_words"), lines))


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """Add the lines of the answer that rest on a note."""
    name = target_of(context, ())
    lines = new_lines(context, name, answer)
    if not lines:
        return Work(context.text("no_evidence"), is_quiet=True)
    says = context.text("profile_added", count=len(lines), link=_link(context, name))
    return Work(says, add_lines(context, name, context.text("believed"), lines))


def target_of(context: ProcedureContext, found: Sequence[StoredEntry]) -> str:
    """The note to work on: the one that the task names, else the one in which most of what was said belongs."""
    if context.call.target_file:
        return context.call.target_file
    found = found or stated(context, days_before(context.today, _DAYS))
    kinds = [kind_of(each.entry.text) for each in found] or [FactKind.SELF]
    return f"{PROFILE}{_NOTES[max(FactKind, key=kinds.count)]}.md"


def _belonging(context: ProcedureContext, name: str, found: Sequence[StoredEntry]) -> Iterator[StoredEntry]:
    """What belongs into a note: by the kind of statement, or by a word of the note's title or its keywords."""
    kinds = {kind for kind, stem in _NOTES.items() if name == f"{PROFILE}{stem}.md"}
    note = Note.parse(context.note(name).encode())
    title = " ".join([title_of(name), *note.strings("keywords"), context.call.title if not kinds else ""])
    words = words_of(title)
    for each in found:
        plain = words_of(" ".join([each.entry.text, *each.entry.keywords]))
        if kind_of(each.entry.text) in kinds or (not kinds and words & plain):
            yield each


def _link(context: ProcedureContext, name: str) -> str:
    return f"[[{context.path(name).removesuffix('.md')}]]"
