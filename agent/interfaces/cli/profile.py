"""`vault-agent profile`: shows what the agent knows about you, searches it, and lays out its notes."""

from typing import TYPE_CHECKING

import click

from agent.app.open import open_workspace
from agent.errors import UserError
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.profile_texts import (
    format_figures,
    format_files,
    format_layers,
    format_note,
)
from agent.interfaces.cli.words import words_argument
from agent.lazy import later
from agent.memory.profile.catalog import CHANGELOG
from agent.memory.profile.documents import figures_document, file_document, layer_document, profile_hit_document
from agent.memory.profile.figures import profile_figures
from agent.memory.profile.lay_out import lay_out_profile
from agent.memory.profile.load import changelog_rows, find_profile_note, last_updated, layer_figures, load_profile
from agent.memory.profile.search import search_profile
from agent.texts import LANGUAGES, Language
from agent.vault.folders import PROFILE

if TYPE_CHECKING:
    from agent.growth.beliefs.documents import last_changed, model_document
    from agent.growth.beliefs.learn import person_model
    from agent.interfaces.cli.belief_texts import format_beliefs
else:
    last_changed = later("agent.growth.beliefs.documents", "last_changed")
    model_document = later("agent.growth.beliefs.documents", "model_document")
    person_model = later("agent.growth.beliefs.learn", "person_model")
    format_beliefs = later("agent.interfaces.cli.belief_texts", "format_beliefs")


@click.group(short_help="What I know about you: show, search, lay out.", invoke_without_command=True)
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
        found = find_profile_note(files, file)
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
    document = [layer_document(each, language) for each in figures]
    output.emit({"layers": document}, lambda: as_lines(format_layers(figures, language)))


@command.command()
@words_argument("query")
@click.option("-n", "--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="How many lines.")
@click.pass_obj
def search(output: Output, query: str, limit: int) -> None:
    """Find the lines about QUERY in the notes about you."""
    if not query.strip():
        raise UserError("the query is empty", hint='vault-agent profile search "green tea"')
    workspace = open_workspace(output.vault())
    hits = search_profile(load_profile(workspace.vault), query, limit)
    document = [profile_hit_document(each) for each in hits]
    lines = [f"{each.file.path}  {each.text}" for each in hits]
    output.emit({"query": query, "hits": document}, lambda: as_lines(lines or [said("nothing found")]))


@command.command(short_help="Show what I believe you prefer, and by what.")
@click.pass_obj
def beliefs(output: Output) -> None:
    """Show what I believe you prefer, with how sure that is and what it rests on; also what is not sure enough to stand
    in profile/31-preferences.md. Above 0.6 a model is told of it, for texts of its kind; above 0.9 it is confirmed."""
    workspace = open_workspace(output.vault())
    language, model = workspace.settings.vault.language, person_model(workspace)
    output.emit(
        model_document(workspace.vault, model, language),
        lambda: as_lines(format_beliefs(model, last_changed(workspace.vault), language)),
    )


@command.command(short_help="Show what was changed in the profile, and why.")
@click.option("-n", "--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="How many changes.")
@click.pass_obj
def history(output: Output, limit: int) -> None:
    """Show the last changes that the agent made in the profile, newest first, each with what it rests on."""
    workspace = open_workspace(output.vault())
    rows = changelog_rows(workspace.vault)[:limit]
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
    created = lay_out_profile(workspace.vault, language or workspace.settings.vault.language)
    done = said("{count} notes laid out in {folder}", count=len(created), folder=workspace.vault.home.at(PROFILE))
    output.emit({"created": list(created)}, done if created else said("all notes of the profile are there"))


def _status(output: Output) -> None:
    workspace = open_workspace(output.vault())
    figures = profile_figures(workspace.vault)
    output.emit(
        figures_document(figures, workspace.settings.profile.sensitive), lambda: as_lines(format_figures(figures))
    )
