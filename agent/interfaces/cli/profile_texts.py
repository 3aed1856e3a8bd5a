"""How the profile and the beliefs about the person are shown on the terminal, and as JSON."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from agent.growth.beliefs.blocks import Belief
from agent.growth.beliefs.learn import PersonModel
from agent.growth.beliefs.sign import says
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.printing import padded
from agent.memory.profile.load import LayerFigures, ProfileFigures
from agent.memory.profile.owner import TASK_KINDS, format_confidence
from agent.memory.profile.profile_file import ProfileFile
from agent.texts import Language, text
from agent.workspace.workspace import Workspace


def format_files(files: Sequence[ProfileFile], changed: Mapping[str, datetime], workspace: Workspace) -> Iterator[str]:
    """The notes by layer: how far each is filled, how sure the agent is, and when it changed."""
    if not files:
        yield tr("there are no notes about you yet; vault-agent profile init lays them out")
    layer = -1
    for each in files:
        if each.layer != layer:
            layer = each.layer
            yield f"{layer} {text(f'profile.layer_{layer}', workspace.settings.vault.language)}"
        day = f"{changed[each.name]:%Y-%m-%d}" if each.name in changed and each.filled else ""
        count = len(each.fields)
        figures = tr("{filled} of {fields} fields", filled=count - each.empty_fields, fields=count)
        lines = tr("{count} lines", count=len(each.statements)) if each.statements else ""
        sure = tr("confidence {figure:.2f}", figure=each.confidence) if each.filled else ""
        yield f"  {padded(each.name, 28)} " + tr(", ").join(filter(None, (figures, lines, sure, day)))


def format_note(file: ProfileFile) -> Iterator[str]:
    """All of one note, with its evidence below."""
    yield from file.text.splitlines()
    if file.evidence:
        yield ""
        yield tr("rests on:")
        yield from (f"  {each.written}" for each in file.evidence)


def format_layers(figures: Sequence[LayerFigures], language: Language) -> Iterator[str]:
    """The layers, each with its figures."""
    if not figures:
        yield tr("there are no notes about you yet; vault-agent profile init lays them out")
    for each in figures:
        name = padded(f"{each.layer} {text(f'profile.layer_{each.layer}', language)}", 24)
        yield name + tr(
            "{filled} of {notes} notes, {values} of {fields} fields, {lines} lines",
            filled=each.filled_notes,
            notes=each.notes,
            values=each.filled_fields,
            fields=each.fields,
            lines=each.lines,
        )


def format_figures(figures: ProfileFigures) -> Iterator[str]:
    """How far the profile is filled, and what waits for the person."""
    yield tr(
        "{filled} of {notes} notes say something, {values} of {fields} fields are filled, {lines} lines beside them",
        filled=figures.filled_notes,
        notes=figures.notes,
        values=figures.filled_fields,
        fields=figures.fields,
        lines=figures.lines,
    )
    if figures.missing:
        yield tr("{count} notes are not there; vault-agent profile init lays them out", count=len(figures.missing))
    for path in figures.open_questions:
        yield tr("a question waits for you: {path}", path=path)


_SHOWN = 3
"""The newest pieces of evidence that are shown of a belief."""


def format_beliefs(model: PersonModel, noted: Collection[str], language: Language) -> Iterator[str]:
    """Each belief with its figures, its state (`noted` are those in the note, by id), and its newest evidence."""
    if not model.beliefs:
        yield tr("nothing is believed about what you prefer yet")
    for each in model.beliefs:
        yield f"{format_confidence(each.confidence)}  {says(each.dimension, each.value, language)}"
        yield f"      {_figures(each, language)}"
        yield f"      {_certainty(model, each, noted, language)}"
        yield from (f"      {one.evidence.written} {one.excerpt}".rstrip() for one in each.signs[:_SHOWN])
    if model.gathered.silent:
        yield tr("answers without a word on them: {count} (counted, and nothing follows)", count=model.gathered.silent)


def _figures(belief: Belief, language: Language) -> str:
    figures = tr("signs: {signs}, against it: {against}", signs=len(belief.signs), against=len(belief.against))
    named = [text(f"belief.task_{kind}", language) for kind in TASK_KINDS if kind in belief.tasks]
    kinds = text("belief.comma", language).join(named)
    return tr("{figures}; for: {kinds}", figures=figures, kinds=kinds) if kinds else figures


def _certainty(model: PersonModel, belief: Belief, noted: Collection[str], language: Language) -> str:
    """What is made of a belief."""
    if model.is_refused(belief, language):
        return tr("you took it out or changed it, so it is not used")
    if belief.dimension.key in model.gathered.own:
        return tr("a line of your own says what holds")
    if not belief.is_enough:
        return tr("too few signs to speak of it")
    words = tr("confirmed") if belief.is_confirmed else tr("told" if belief.is_used else "not sure enough to be told")
    words = tr("{words}, but which holds?", words=words) if belief.is_doubted else words
    return tr("{words}; it is in the note", words=words) if belief.dimension.id in noted else words
