"""`vault-agent profile`: shows what the agent knows about you, searches it, and lays out its notes."""

from collections.abc import Sequence
from pathlib import Path

import click

from agent.app.open import open_workspace
from agent.errors import UserError
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.profile_texts import (
    figures_document,
    file_document,
    format_figures,
    format_files,
    format_layers,
    format_note,
)
from agent.memory.profile.catalog import CHANGELOG, note_name
from agent.memory.profile.figures import profile_figures
from agent.memory.profile.load import changelog, last_updated, layer_figures, load_profile
from agent.memory.profile.profile_file import ProfileFile
from agent.memory.profile.search import search_profile
from agent.memory.profile.template import template_notes
from agent.texts import LANGUAGES, Language, text
from agent.vault.change import Stamp
from agent.vault.folders import PROFILE
from agent.workspace.workspace import Workspace


@click.group(short_help="What I know about you: show, search, fill.", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """The notes in profile/ say what the agent knows about you; you and it fill them in. FILE is a note's name, or its
    beginning, such as 31 or 31-preferences.
    """
    if ctx.invoked_subcommand is None:
        _status(ctx.obj)


@command.command(short_help="Show the notes about you, or one of them.")
@click.argument("file", required=False, metavar="[FILE]")
@click.pass_obj
def show(output: Output, file: str | None) -> None:
    """Show the notes about you with how far each is filled; with FILE all of that note."""
    workspace = open_workspace(output.vault())
    files = load_profile(workspace.vault)
    if file is not None:
        found = _find(files, file)
        output.emit({"files": [file_document(found)]}, lambda: as_lines(format_note(found)))
        return
    changed = last_updated(workspace.vault)
    output.emit(
        {"files": [file_document(each) for each in files]}, lambda: as_lines(format_files(files, changed, workspace))
    )


@command.command()
@click.pass_obj
def layers(output: Output) -> None:
    """List the layers of the profile, and how far each is filled."""
    workspace = open_workspace(output.vault())
    figures = layer_figures(load_profile(workspace.vault))
    language = workspace.settings.vault.language
    document = [
        {
            "layer": each.layer,
            "name": text(f"profile.layer_{each.layer}", language),
            "notes": each.notes,
            "filled_notes": each.filled_notes,
            "fields": each.fields,
            "filled_fields": each.filled_fields,
            "lines": each.lines,
        }
        for each in figures
    ]
    output.emit({"layers": document}, lambda: as_lines(format_layers(figures, language)))


@command.command()
@click.argument("query")
@click.option("-n", "--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="How many lines.")
@click.pass_obj
def search(output: Output, query: str, limit: int) -> None:
    """Find the lines about QUERY in the notes about you."""
    workspace = open_workspace(output.vault())
    hits = search_profile(load_profile(workspace.vault), query, limit)
    document = [
        {"path": each.file.path, "title": each.file.title, "text": each.text, "score": each.score} for each in hits
    ]
    lines = [f"{each.file.path}  {each.text}" for each in hits]
    output.emit({"query": query, "hits": document}, lambda: as_lines(lines or [said("nothing found")]))


@command.command(short_help="Show what was changed in the profile, and why.")
@click.option("-n", "--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="How many changes.")
@click.pass_obj
def history(output: Output, limit: int) -> None:
    """Show the last changes that the agent made in the profile, newest first, each with what it rests on."""
    workspace = open_workspace(output.vault())
    rows = [line[2:] for line in changelog(workspace.vault).splitlines() if line.startswith("- ")]
    rows = rows[: -limit - 1 : -1]
    path = workspace.vault.home.at(PROFILE + CHANGELOG)
    output.emit({"path": path, "changes": rows}, lambda: as_lines(rows or [said("nothing was changed yet")]))


@command.command()
@click.pass_obj
def status(output: Output) -> None:
    """Show how much of the profile is filled, and what waits for you."""
    _status(output)


@command.command(short_help="Lay out the notes of the profile that are missing.")
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    help="The language of the new notes; without it, that of the vault.",
)
@click.pass_obj
def init(output: Output, language: Language | None) -> None:
    """Lay out the notes of the profile that are missing; those that are there stay as they are."""
    workspace = open_workspace(output.vault())
    created = _lay(workspace, language or workspace.settings.vault.language)
    done = said("{count} notes laid out in {folder}", count=len(created), folder=workspace.vault.home.at(PROFILE))
    output.emit({"created": list(created)}, done if created else said("all notes of the profile are there"))


def _status(output: Output) -> None:
    workspace = open_workspace(output.vault())
    figures = profile_figures(workspace.vault)
    output.emit(
        figures_document(figures, workspace.settings.profile.sensitive), lambda: as_lines(format_figures(figures))
    )


def _find(files: Sequence[ProfileFile], given: str) -> ProfileFile:
    """The note of this name, or the only one whose name begins so."""
    wanted = (note_name(given) or given).removesuffix(".md").rpartition(PROFILE)[2]
    exact = [each for each in files if each.name.removesuffix(".md") == wanted]
    close = [each for each in files if each.name.removesuffix(".md").rpartition("/")[2].startswith(wanted)]
    found = exact or (close if wanted else [])
    if len(found) != 1:
        raise UserError(
            "there is no note {name} in the profile", hint="vault-agent profile show lists the notes", name=given
        )
    return found[0]


def _lay(workspace: Workspace, language: Language) -> tuple[str, ...]:
    """Write the template's notes that are missing, in one commit."""
    vault = workspace.vault
    notes = {vault.home.at(PROFILE + name): data for name, data in template_notes(language).items()}
    lay = {path: data for path, data in notes.items() if not Path(vault.place.root, path).exists()}
    if lay and _has_about(workspace):  # an explaining note in the other language says the same
        lay = {path: data for path, data in lay.items() if b"\ntype: about\n" not in data}
    if not lay:
        return ()
    with vault.transaction(f"profile(init): added {len(lay)} notes", Stamp("agent", tool="init")) as change:
        for path, data in lay.items():
            change.create(path, data)
    return tuple(lay)


def _has_about(workspace: Workspace) -> bool:
    vault = workspace.vault
    return any(
        Path(vault.place.root, vault.home.at(PROFILE + name)).exists()
        for language in LANGUAGES
        for name, data in template_notes(language).items()
        if b"\ntype: about\n" in data and "/" not in name
    )
