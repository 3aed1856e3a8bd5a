"""`vault-agent init`: makes a folder a vault, and prints a short report and the next steps."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click

from agent.app.setup import DraftChoice, EditChoice, MadeVault, Wishes
from agent.interfaces.cli.adopt import adopt, few_names, is_asked
from agent.interfaces.cli.click_texts import NamedPath
from agent.interfaces.cli.language import counted, speak, spoken, tr
from agent.interfaces.cli.output import PROGRAM, Output, fields
from agent.interfaces.cli.printing import as_lines
from agent.texts import LANGUAGES, Language, text
from agent.vault.initialise import Initialised
from agent.vault.template import Left

_SHOWN = 10


@click.command()
@click.argument("path", type=NamedPath())
@click.option("--language", type=click.Choice(LANGUAGES), help="The language of the notes that are laid; else yours.")
@click.option("--hooks/--no-hooks", default=None, help="Put our git hooks into the repository, or do not ask.")
@click.option("--drafts", type=click.Choice(get_args(DraftChoice)), help="What becomes of your uncommitted changes.")
@click.option("--edits", type=click.Choice(get_args(EditChoice)), help="off: the daemon commits no edits of yours.")
@click.option("--under", metavar="FOLDER", help="The folder for all that is the agent's: Agent, or / for the top.")
@click.option("--watch-inbox", is_flag=True, help="Every note in an inbox that you have already is a request.")
@click.option("--restore", is_flag=True, help="In a vault, lay again what is missing of the template.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing, and do it.")
@click.pass_obj
def command(
    output: Output,
    path: Path,
    language: Language | None,
    hooks: bool | None,
    drafts: DraftChoice | None,
    edits: EditChoice | None,
    under: str | None,
    watch_inbox: bool,
    restore: bool,
    yes: bool,
) -> None:
    """Make PATH a vault: a new folder, an Obsidian vault or any folder of notes, with git or without.

    One screen shows what will be added and where, what will be committed and in whose name; nothing is done before your
    yes. No existing file is changed. Without a git repository, one is created, and the files in the folder become its
    first commit, in your name; in an existing repository, your uncommitted work stays uncommitted unless you say
    otherwise. `vault-agent undo` of the commit that adds its files takes all of it back.
    """
    if language is not None:  # as all commands speak in that vault
        speak(language)
    wishes = Wishes(
        language, restore, watch_inbox=watch_inbox, under=under, spoken=spoken(), edits=edits, hooks=bool(hooks)
    )
    made = adopt(output, path, wishes, drafts=drafts, yes=yes)
    done = made.done
    names = "was_vault new_repository created commit human_commit uncommitted nested excluded known_person"
    left, hooks_left = ([fields(each, "path why") for each in found] for found in (done.left, made.hooks_left))
    document = fields(done, names, vault=str(done.vault.place.root), left=left, next=_next(made))
    document |= {"hooks": made.hooks, "hooks_left": hooks_left, "merge_driver": not made.no_driver}
    offered = hooks is None and not is_asked(output)
    output.emit(document, lambda: as_lines(_format(made, offered=offered)))


def _call(done: Initialised) -> str:
    """The program's name with its vault, as a person would type it here."""
    root = done.vault.place.root
    here = Path.cwd().resolve()
    return PROGRAM if here == root or root in here.parents else f"{PROGRAM} --vault {shlex.quote(str(root))}"


def _next(made: MadeVault) -> list[str]:
    call, sample = _call(made.done), shlex.quote(text("init.sample", made.language))
    return [f"{call} remember {sample}", f"{call} ask {shlex.quote(made.question)}", f"{call} log"]


def _format(made: MadeVault, *, offered: bool) -> list[str]:
    done = made.done
    root = done.vault.place.root
    lines = [tr("{root} is already a vault", root=root) if done.was_vault else tr("{root} is a vault now", root=root)]
    if done.human_commit:
        one = "  your file is the first commit, in your name: {commit}"
        more = "  your {count} files are the first commit, in your name: {commit}"
        lines.append(counted(done.human_files, one, more, commit=done.human_commit[:12]))
    if done.commit:
        lines.append(tr("  {count} files were added: {commit}", count=len(done.created), commit=done.commit[:12]))
    lines += _format_left(done.left)
    lines += [tr("  a repository of its own, left alone: {name}", name=name) for name in done.nested[:_SHOWN]]
    if done.excluded and done.was_vault:
        lines.append(
            tr(
                "  {count} rules in the repository's info/exclude keep what comes and goes out of git",
                count=len(done.excluded),
            )
        )
    if done.uncommitted:
        one = "  1 file of yours is not committed: `{call} commit` records it"
        more = "  {count} files of yours are not committed: `{call} commit` records them"
        lines.append(counted(done.uncommitted, one, more, call=_call(done)))
    if made.no_driver:
        lines.append(tr("  git merges notes without vault-agent ({why})", why=tr(made.no_driver)))
    elif done.was_vault:
        lines.append(
            tr("  git merges notes with vault-agent; taken back by: git config --remove-section merge.vault-agent")
        )
    lines += [tr("  git hook installed: {name}", name=name) for name in made.hooks]
    lines += [tr("  git hook left: {path} ({why})", path=item.path, why=tr(item.why)) for item in made.hooks_left]
    if offered and not made.hooks and not made.hooks_left and not done.was_vault:
        lines.append(
            tr(
                "  git hooks that check your own commits: {program} init {root} --hooks",
                program=PROGRAM,
                root=shlex.quote(str(root)),
            )
        )
    if done.commit and not done.was_vault:
        undo = "  to take all of it back: {call} undo {commit}"
        lines.append(tr(undo, call=_call(done), commit=done.commit[:12]))
    tries = [f"  {command}" for command in _next(made)]
    note = done.vault.home.at(text("init.welcome_note", made.language))
    is_new = (root / note).is_file() and not done.was_vault
    says = ["", tr("{note} in the vault says more.", note=note)] if is_new else []
    return [*lines, "", tr("Try:"), *tries, *says]


def _format_left(left: Sequence[Left]) -> list[str]:
    """The paths that were left, in one line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for item in left:
        by_reason.setdefault(item.why, []).append(item.path)
    return [tr("  left: {paths} ({why})", paths=few_names(paths), why=tr(why)) for why, paths in by_reason.items()]
