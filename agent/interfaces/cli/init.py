"""`vault-agent init`: makes a folder a vault, and prints a short report and the next steps."""

import shlex
import sys
from pathlib import Path

import click

from agent.app.setup import hook_program, hook_scripts, make_vault
from agent.interfaces.cli.output import PROGRAM, Output
from agent.interfaces.cli.prompt import confirm
from agent.texts import LANGUAGES, Language, text
from agent.vault.hooks import install
from agent.vault.initialise import Initialised
from agent.vault.template import Left

_SHOWN = 10


@click.command(short_help="Make a folder a vault; touches nothing that exists.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--language", type=click.Choice(LANGUAGES), help="The language of the notes that are laid; else en.")
@click.option("--hooks/--no-hooks", default=None, help="Put our git hooks into the repository, or do not ask.")
@click.option("--restore", is_flag=True, help="In a vault, lay again what is missing of the template.")
@click.pass_obj
def command(output: Output, path: Path, language: Language | None, hooks: bool | None, restore: bool) -> None:
    """Make PATH a vault: a new folder, an Obsidian vault or any folder of notes, with git or without.

    No existing file is changed. Without a git repository, one is created, and the files in the folder become its first
    commit, in your name; in an existing repository, your uncommitted work stays uncommitted.
    """
    done, language = make_vault(path, language, restore=restore)
    installed, left = _hooks(output, done, hooks)
    document = {
        "vault": str(done.vault.place.root),
        "was_vault": done.was_vault,
        "new_repository": done.new_repository,
        "created": list(done.created),
        "left": [{"path": item.path, "why": item.why} for item in done.left],
        "commit": done.commit,
        "human_commit": done.human_commit,
        "uncommitted": done.uncommitted,
        "nested": list(done.nested),
        "excluded": list(done.excluded),
        "hooks": installed,
        "hooks_left": [{"path": item.path, "why": item.why} for item in left],
        "next": _next(done, language),
    }
    output.emit(document, lambda: _format(done, installed, left, hooks, language))


def _hooks(output: Output, done: Initialised, wanted: bool | None) -> tuple[list[str], list[Left]]:
    if wanted is None and not done.was_vault and not output.json and sys.stdin.isatty() and sys.stdout.isatty():
        wanted = confirm("Let git check your own commits for broken notes and secrets (three hooks)?", error=True)
    if not wanted:
        return [], []
    return install(done.vault, hook_scripts(), hook_program())


def _call(done: Initialised) -> str:
    """The program's name with its vault, as a person would type it here."""
    root = done.vault.place.root
    here = Path.cwd().resolve()
    return PROGRAM if here == root or root in here.parents else f"{PROGRAM} --vault {shlex.quote(str(root))}"


def _next(done: Initialised, language: Language) -> list[str]:
    call = _call(done)
    return [f"{call} remember {shlex.quote(text('init.sample', language))}", f"{call} log"]


def _format(done: Initialised, installed: list[str], left: list[Left], hooks: bool | None, language: Language) -> str:
    root = done.vault.place.root
    lines = [f"{root} is already a vault" if done.was_vault else f"{root} is a vault now"]
    if done.human_commit:
        lines.append(f"  your {done.human_files} files are the first commit, in your name: {done.human_commit[:12]}")
    if done.commit:
        lines.append(f"  {len(done.created)} files were added: {done.commit[:12]}")
    lines += [f"  left: {item.path} ({item.why})" for item in done.left[:_SHOWN]]
    lines += [f"  left: {len(done.left) - _SHOWN} more, see --json"] if len(done.left) > _SHOWN else []
    lines += [f"  a repository of its own, left alone: {name}" for name in done.nested[:_SHOWN]]
    if done.excluded:
        lines.append(f"  your .gitignore stays; {len(done.excluded)} more rules are in the repository's info/exclude")
    if done.uncommitted:
        noun = "file of yours is" if done.uncommitted == 1 else "files of yours are"
        lines.append(f"  {done.uncommitted} {noun} not committed: `{_call(done)} commit` records them")
    lines += [f"  git hook installed: {name}" for name in installed]
    lines += [f"  git hook left: {item.path} ({item.why})" for item in left]
    if hooks is None and not installed and not left and not done.was_vault:
        lines.append(f"  git hooks that check your own commits: {PROGRAM} init {shlex.quote(str(root))} --hooks")
    return "\n".join([*lines, "", "Try:", *(f"  {command}" for command in _next(done, language))])
