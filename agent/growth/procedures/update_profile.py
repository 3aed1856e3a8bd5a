"""`update_profile`: writes into the notes in `profile/` what the person has said, each line with its evidence."""

from collections.abc import Iterator

from agent.growth.procedures.material import bullets, days_before, quote, stated, title_of
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.growth.procedures.profile_lines import changes_in_answer, propose
from agent.growth.topic_words import words_of
from agent.markdown.note import Note
from agent.memory.profile.changes import Proposed
from agent.memory.profile.load import profile_with_forms
from agent.memory.profile.profile_file import CORE, note_of
from agent.memory.profile.statements import changes_of_entries
from agent.memory.store import StoredEntry
from agent.vault.folders import PROFILE

MODEL: ModelPart = "instead"
WRITES: tuple[str, ...] = ()
_DAYS = 30
"""How far back the plain form looks for what was said."""
_MOST = 60
"""The most changes at once, so that one commit can be read."""


def plain(context: ProcedureContext) -> Work:
    """Fill the fields that the person's statements name; a model is given the statements that may belong in the
    note."""
    if not context.runs.present:
        return stated_changes(context)
    target = target_of(context)
    lines = [f"{quote(each.entry.text)} ({each.link})" for each in _belonging(context, target)][:_MOST]
    link = f"[[{context.path(target).removesuffix('.md')}]]"
    says = context.text("profile_quoted", count=len(lines), link=link)
    return Work(f"{says}\n{bullets(lines)}{_fields(context, target)}" if lines else "")


def _fields(context: ProcedureContext, target: str) -> str:
    """The fields of the note that have no value yet, on a line for a model; empty if there are none."""
    name = target.removeprefix(PROFILE)
    files = (each for each in profile_with_forms(context.vault, context.language) if each.name == name)
    labels = [field.label for file in files for field in file.fields if not field.value]
    return f"\n\n{context.text('profile_fields', labels=', '.join(labels))}" if labels else ""


def stated_changes(context: ProcedureContext) -> Work:
    """The fields that the person's statements fill, by rules: all of them, or those of the note that the task names."""
    files = profile_with_forms(context.vault, context.language)
    found = changes_of_entries(stated(context, days_before(context.today, _DAYS)), files)
    target = context.call.target_file
    return work_of(context, propose(context, [each for each in found if target in ("", PROFILE + each.note)][-_MOST:]))


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """Write the lines of the answer that rest on the person's own words."""
    name = target_of(context).removeprefix(PROFILE)
    found = work_of(context, propose(context, changes_in_answer(context, name, answer, context.text("believed"))))
    return found if found.requests else Work(context.text("no_evidence"), is_quiet=True)


def work_of(context: ProcedureContext, proposed: Proposed) -> Work:
    """What a procedure writes and says of proposed changes; nothing if there are none."""
    if not proposed.requests:
        return Work()
    names = dict.fromkeys(each.note for each in proposed.made)
    says: list[str] = []
    for name in names:
        link = f"[[{context.path(PROFILE + name).removesuffix('.md')}]]"
        says.append(context.text("profile_added", count=sum(each.note == name for each in proposed.made), link=link))
    says += [context.text("asked_gap", link=f"[[{path.removesuffix('.md')}]]") for path in proposed.asked]
    return Work("\n".join(says) or context.text("profile_settled"), proposed.requests)


def target_of(context: ProcedureContext) -> str:
    """The note to work on: the one that the task names, else the one in which most of what was said belongs."""
    if context.call.target_file:
        return context.call.target_file
    found = stated(context, days_before(context.today, _DAYS))
    notes = [note_of(each.entry.text) for each in found]
    return f"{PROFILE}{max(CORE, key=notes.count)}.md"


def _belonging(context: ProcedureContext, target: str) -> Iterator[StoredEntry]:
    """What was said lately and may belong in a note: in one of the seventeen by its words or its kind, in another one
    if it has a word in common with the note's title or keywords, or with the task's title."""
    note = Note.parse(context.note(target).encode())
    words = words_of(" ".join([title_of(target), *note.strings("keywords"), context.call.title]))
    stem = target.removeprefix(PROFILE).removesuffix(".md")
    for each in stated(context, days_before(context.today, _DAYS)):
        said = words_of(" ".join([each.entry.text, *each.entry.keywords]))
        if note_of(each.entry.text) == stem if stem in CORE else words & said:
            yield each
