"""`vault-agent init`: makes a folder a vault, and prints a short report and the next steps."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click

from agent.app.setup import DraftChoice, Wishes, hook_program, hook_scripts
from agent.interfaces.cli.adopt import Adopted, adopt, is_asked, names
from agent.interfaces.cli.help_layout import wrap_text
from agent.interfaces.cli.language import counted, said, speak, spoken
from agent.interfaces.cli.output import PROGRAM, Output
from agent.interfaces.cli.printing import size
from agent.interfaces.cli.prompt import confirm
from agent.interfaces.cli.usage_errors import NamedPath
from agent.texts import LANGUAGES, Language, text
from agent.vault import merge_driver_setup
from agent.vault.hooks import install
from agent.vault.initialise import Initialised
from agent.vault.template import Left

_SHOWN = 10
_ABOUT_HOOKS = (
    "git can check your own commits in this repository: before a commit, it looks for passwords and keys, and "
    "names notes whose header cannot be read; after a pull or a checkout, it tells the agent that notes have changed. "
    "These are three scripts in .git/hooks; hooks that you have stay as they are."
)


@click.command()
@click.argument("path", type=NamedPath())
@click.option("--language", type=click.Choice(LANGUAGES), help="The language of the notes that are laid; else yours.")
@click.option("--hooks/--no-hooks", default=None, help="Put our git hooks into the repository, or do not ask.")
@click.option("--drafts", type=click.Choice(get_args(DraftChoice)), help="What becomes of your uncommitted changes.")
@click.option("--under", metavar="FOLDER", help="The folder for all that is the agent's, such as Agent.")
@click.option("--watch-inbox", is_flag=True, help="Every note in an inbox that you have already is a request.")
@click.option("--restore", is_flag=True, help="In a vault, lay again what is missing of the template.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: what you have stays as it is.")
@click.pass_obj
def command(
    output: Output,
    path: Path,
    language: Language | None,
    hooks: bool | None,
    drafts: DraftChoice | None,
    under: str | None,
    watch_inbox: bool,
    restore: bool,
    yes: bool,
) -> None:
    """Make PATH a vault: a new folder, an Obsidian vault or any folder of notes, with git or without.

    It says what will be added and committed, and asks before it does it. No existing file is changed. Without a git
    repository, one is created, and the files in the folder become its first commit, in your name; in an existing
    repository, your uncommitted work stays uncommitted unless you say otherwise.
    """
    if language is not None:  # as all commands speak in that vault
        speak(language)
    wishes = Wishes(language, restore, watch_inbox=watch_inbox, under=under, spoken=spoken())
    adopted = adopt(output, path, wishes, drafts=drafts, yes=yes)
    done, language = adopted.done, adopted.language
    no_driver = merge_driver_setup.install(done.vault, hook_program())
    installed, left = _hooks(output, done, False if yes and hooks is None else hooks)
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
        "merge_driver": not no_driver,
        "known_person": done.known_person,
        "next": _next(done, adopted),
    }
    offered = hooks is None and not is_asked(output)
    output.emit(document, lambda: _format(adopted, installed, left, no_driver, offered=offered))


def _hooks(output: Output, done: Initialised, wanted: bool | None) -> tuple[list[str], list[Left]]:
    if wanted is None and not done.was_vault and is_asked(output):
        output.note("\n" + wrap_text(said(_ABOUT_HOOKS), min(size(error=True)[0], 80)))
        wanted = confirm(said("Install these three hooks?"), error=True)
    if not wanted:
        return [], []
    return install(done.vault, hook_scripts(), hook_program())


def _call(done: Initialised) -> str:
    """The program's name with its vault, as a person would type it here."""
    root = done.vault.place.root
    here = Path.cwd().resolve()
    return PROGRAM if here == root or root in here.parents else f"{PROGRAM} --vault {shlex.quote(str(root))}"


def _next(done: Initialised, adopted: Adopted) -> list[str]:
    call, sample = _call(done), shlex.quote(text("init.sample", adopted.language))
    return [f"{call} remember {sample}", f"{call} ask {shlex.quote(adopted.question)}", f"{call} log"]


def _format(adopted: Adopted, installed: list[str], left: list[Left], no_driver: str, *, offered: bool) -> str:
    done = adopted.done
    root = done.vault.place.root
    lines = [
        said("{root} is already a vault", root=root) if done.was_vault else said("{root} is a vault now", root=root)
    ]
    if done.human_commit:
        one = "  your file is the first commit, in your name: {commit}"
        more = "  your {count} files are the first commit, in your name: {commit}"
        lines.append(counted(done.human_files, one, more, commit=done.human_commit[:12]))
    if done.commit:
        lines.append(said("  {count} files were added: {commit}", count=len(done.created), commit=done.commit[:12]))
    lines += _format_left(done.left)
    lines += [said("  a repository of its own, left alone: {name}", name=name) for name in done.nested[:_SHOWN]]
    if done.excluded:
        lines.append(
            said(
                "  your .gitignore stays; {count} more rules are in the repository's info/exclude",
                count=len(done.excluded),
            )
        )
    if done.uncommitted:
        one = "  1 file of yours is not committed: `{call} commit` records it"
        more = "  {count} files of yours are not committed: `{call} commit` records them"
        lines.append(counted(done.uncommitted, one, more, call=_call(done)))
    lines.append(
        said("  git merges notes with vault-agent; taken back by: git config --remove-section merge.vault-agent")
        if not no_driver
        else said("  git merges notes without vault-agent ({why})", why=said(no_driver))
    )
    lines += [said("  git hook installed: {name}", name=name) for name in installed]
    lines += [said("  git hook left: {path} ({why})", path=item.path, why=said(item.why)) for item in left]
    if offered and not installed and not left and not done.was_vault:
        lines.append(
            said(
                "  git hooks that check your own commits: {program} init {root} --hooks",
                program=PROGRAM,
                root=shlex.quote(str(root)),
            )
        )
    tries = [f"  {command}" for command in _next(done, adopted)]
    note = done.vault.home.at(text("init.welcome_note", adopted.language))
    is_new = (root / note).is_file() and not done.was_vault
    says = ["", said("{note} in the vault says more.", note=note)] if is_new else []
    return "\n".join([*lines, "", said("Try:"), *tries, *says])


def _format_left(left: Sequence[Left]) -> list[str]:
    """The paths that were left, in one line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for item in left:
        by_reason.setdefault(item.why, []).append(item.path)
    return [said("  left: {paths} ({why})", paths=names(paths), why=said(why)) for why, paths in by_reason.items()]
