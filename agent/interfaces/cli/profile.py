"""`vault-agent profile`: shows what the agent knows about you, searches it, and lays out its notes."""

from collections.abc import Mapping, Sequence

import click

from agent.app.open import open_workspace
from agent.deeds.profile import FileInfo, profile_file, profile_layers, profile_summary, search_in_profile
from agent.errors import UserError
from agent.interfaces.cli.declare import group, in_vault, words_argument
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.lessons import beliefs
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.profile_texts import format_figures, format_files, format_layers, format_note
from agent.memory.profile.load import (
    changelog_rows,
    find_profile_note,
    last_updated,
    lay_out_profile,
    layer_figures,
    load_profile,
    profile_figures,
)
from agent.memory.profile.profile_file import CHANGELOG, ProfileFile
from agent.texts import LANGUAGES, Language
from agent.vault.folders import PROFILE
from agent.workspace.workspace import Workspace


@group("status")
def command() -> None:
    """The notes in profile/ say what the agent knows about you; you and it fill them in. FILE is a note's name, or its
    beginning, such as 31 or 31-preferences.
    """


@command.command(short_help="Show the notes about you, or one of them.")
@click.argument("file", required=False, metavar="[FILE]")
@in_vault
def show(output: Output, workspace: Workspace, file: str | None) -> None:
    """Show the notes about you with how far each is filled; with FILE all of that note."""
    files = load_profile(workspace.vault)
    if file is not None:
        found = find_profile_note(files, file)
        output.emit(lambda: _document(workspace, [found]), lambda: as_lines(format_note(found)))
        return
    changed = last_updated(workspace.vault)
    output.emit(lambda: _document(workspace, files), lambda: as_lines(format_files(files, changed, workspace)))


def _document(workspace: Workspace, files: Sequence[ProfileFile]) -> Mapping[str, object]:
    changed = last_updated(workspace.vault)
    return {"files": [{**profile_file(FileInfo, each, changed).document(), "text": each.text} for each in files]}


@command.command()
@in_vault
def layers(output: Output, workspace: Workspace) -> None:
    """List the layers of the profile, and how far each is filled."""
    figures = layer_figures(load_profile(workspace.vault))
    language = workspace.settings.vault.language
    output.emit(lambda: profile_layers(workspace), lambda: as_lines(format_layers(figures, language)))


@command.command()
@words_argument("query")
@click.option("-n", "--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="How many lines.")
@click.pass_obj
def search(output: Output, query: str, limit: int) -> None:
    """Find the lines about QUERY in the notes about you."""
    if not query.strip():
        raise UserError("the query is empty", hint='vault-agent profile search "green tea"')
    workspace = open_workspace(output.vault())
    found = search_in_profile(workspace, query, limit)
    lines = [f"{each.path}  {each.text}" for each in found.hits]
    output.emit(found, as_lines(lines or [tr("nothing found")]))


command.add_command(beliefs)


@command.command(short_help="Show what was changed in the profile, and why.")
@click.option("-n", "--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="How many changes.")
@in_vault
def history(output: Output, workspace: Workspace, limit: int) -> None:
    """Show the last changes that the agent made in the profile, newest first, each with what it rests on."""
    rows = changelog_rows(workspace.vault)[:limit]
    path = workspace.vault.home.at(PROFILE + CHANGELOG)
    output.emit({"path": path, "changes": rows}, lambda: as_lines(rows or [tr("nothing was changed yet")]))


@command.command()
@in_vault
def status(output: Output, workspace: Workspace) -> None:
    """Show how much of the profile is filled, and what waits for you."""
    figures = profile_figures(workspace.vault)
    output.emit(lambda: profile_summary(workspace), lambda: as_lines(format_figures(figures)))


@command.command(short_help="Lay out the notes of the profile that are missing.")
@click.option(
    "--language", type=click.Choice(LANGUAGES), help="The language of the new notes; without it, that of the vault."
)
@in_vault
def init(output: Output, workspace: Workspace, language: Language | None) -> None:
    """Lay out the notes of the profile that are missing; those that are there stay as they are."""
    created = lay_out_profile(workspace.vault, language or workspace.settings.vault.language)
    done = tr("{count} notes laid out in {folder}", count=len(created), folder=workspace.vault.home.at(PROFILE))
    output.emit({"created": list(created)}, done if created else tr("all notes of the profile are there"))
