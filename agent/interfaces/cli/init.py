"""`vault-agent init`: make a folder a vault, and say in a few lines what was done and what to try."""

import shlex
import shutil
import sys
from pathlib import Path

import click

from agent.app.build import options
from agent.clock import SystemClock
from agent.config.directories import directories
from agent.config.load import load_settings
from agent.config.resources import resource
from agent.interfaces.cli.output import PROGRAM, Output
from agent.interfaces.cli.prompt import confirm
from agent.vault.hooks import NAMES, install
from agent.vault.initialise import Initialised, initialise
from agent.vault.template import Left, read_template

_SHOWN = 10
_SAMPLE = {"en": "The spare key is with Ana", "zh": "备用钥匙在小安那里"}


@click.command(short_help="Make a folder a vault; touches nothing that exists.")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--language", type=click.Choice(["en", "zh"]), help="The language of the notes that are laid; else en.")
@click.option("--hooks/--no-hooks", default=None, help="Put our git hooks into the repository, or do not ask.")
@click.option("--restore", is_flag=True, help="In a vault, lay again what is missing of the template.")
@click.pass_obj
def command(output: Output, path: Path, language: str | None, hooks: bool | None, restore: bool) -> None:
    """Make PATH a vault: a new folder, an Obsidian vault or any folder of notes, with git or without.

    Nothing that exists is touched. Where there is no git repository, one is made and what is in the folder becomes its
    first commit, in your name; in an existing one, your uncommitted work stays uncommitted.
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
    output.emit(document, lambda: _said(done, installed, left, hooks, language))


def make_vault(path: Path, language: str | None, *, restore: bool = False) -> tuple[Initialised, str]:
    """Make the folder a vault with this machine's settings; returns what was done and the language."""
    loaded = load_settings(path if path.is_dir() else None)
    language = language or loaded.settings.vault.language
    template = read_template(resource("vault_template"), language)
    state = directories().state
    return initialise(path, template, state, SystemClock(), options(loaded.settings), restore=restore), language


def _hooks(output: Output, done: Initialised, wanted: bool | None) -> tuple[list[str], list[Left]]:
    if wanted is None and not done.was_vault and not output.json and sys.stdin.isatty() and sys.stdout.isatty():
        wanted = confirm("Let git check your own commits for broken notes and secrets (three hooks)?", error=True)
    if not wanted:
        return [], []
    return install(done.vault, hook_scripts(), hook_program())


def hook_scripts() -> dict[str, bytes]:
    """Our git hooks, by name."""
    return {name: (resource("hooks") / name).read_bytes() for name in NAMES}


def hook_program() -> Path | None:
    """The full path of the program, for hooks that an editor starts with a short PATH."""
    beside = Path(sys.executable).parent / PROGRAM
    if beside.is_file():
        return beside
    found = shutil.which(PROGRAM)
    return Path(found).absolute() if found else None


def _call(done: Initialised) -> str:
    """The program's name with the vault it is to use, as one would type it here."""
    root = done.vault.place.root
    here = Path.cwd().resolve()
    return PROGRAM if here == root or root in here.parents else f"{PROGRAM} --vault {shlex.quote(str(root))}"


def _next(done: Initialised, language: str) -> list[str]:
    call = _call(done)
    return [f"{call} remember {shlex.quote(_SAMPLE[language])}", f"{call} log"]


def _said(done: Initialised, installed: list[str], left: list[Left], hooks: bool | None, language: str) -> str:
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
