"""What `init` and `daemon --init` say and ask before a folder becomes a vault: what is added, what is committed.

Without a terminal, or with --yes, nothing is asked: drafts and folders of the person stay theirs, and all is said.
"""

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from agent.app.setup import DraftChoice, Wishes, decide_drafts, look, make_vault
from agent.config.directories import VAULT_FILE
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.interfaces.cli.help_layout import wrap_text
from agent.interfaces.cli.language import counted, listed, said
from agent.interfaces.cli.output import PROGRAM, Output
from agent.interfaces.cli.printing import as_lines, padded, size
from agent.interfaces.cli.prompt import confirm, keyboard
from agent.texts import Language
from agent.vault.folders import AGENT_NOTE, ARCHIVE, DAILY, ENTRIES, INBOX, MEMORY_NOTE, SKILLS, TASKS
from agent.vault.initialise import Initialised
from agent.vault.prospect import Person, Prospect

_SHOWN = 5
_SHARED = {
    INBOX: "a note there asks the agent only with `agent: ask`, as anywhere else",
    DAILY: "the agent adds a section of its own to the note of the day, below your lines",
    ARCHIVE: "search leaves it out, and what has expired moves there",
    TASKS: "only notes of the agent's own form count as its tasks",
    SKILLS: "a note SKILL.md there is offered to you as a skill; it is used only after your yes",
}
"""What it means for a folder of the person that the agent uses one of this name."""
_OWN_FOLDERS = ("Agent", "Vault agent", "vault-agent")
"""Names for the folder of all that is the agent's, the first that is free."""
_CHOICES: dict[str, DraftChoice] = {"c": "commit", "l": "leave", "a": "later"}


@dataclass(frozen=True, slots=True)
class Adopted:
    """A new or existing vault, its language, and a question that is worth asking there."""

    done: Initialised
    language: Language
    question: str


def adopt(output: Output, path: Path, wishes: Wishes, *, drafts: DraftChoice | None, yes: bool) -> Adopted:
    """Say what would happen, ask where a person is at the terminal, and make the folder a vault.

    Raises `UserError` if the person does not want it, and for source code without a terminal and without `yes`.
    """
    found = look(path, wishes)
    wishes = replace(wishes, drafts=drafts or "leave")
    if not found.was_vault or found.new_repository:
        asks = not yes and is_asked(output)
        if found.has_work or not found.person.email:
            output.note(as_lines(_plan(found, wishes)))
        if asks:
            wishes = _ask(output, found, wishes, drafts)
        elif found.code and not yes:
            raise UserError(
                "{root} looks like source code ({code}); nothing was changed",
                hint="name a folder for notes, or repeat the command with --yes: {program} init {path} --yes",
                root=found.root,
                code=found.code[0],
                program=PROGRAM,
                path=path,
            )
    adopted = Adopted(*make_vault(path, wishes))
    if found.was_vault and drafts is not None:
        decide_drafts(adopted.done.vault, drafts)
    if found.was_vault and wishes.watch_inbox:
        output.note(
            said(
                "{root} was a vault before: {file} there has the setting inbox.every_note",
                root=found.root,
                file=VAULT_FILE,
            )
        )
    return adopted


def is_asked(output: Output) -> bool:
    """True if a person at the terminal can be asked."""
    return not output.json and sys.stdin.isatty() and sys.stdout.isatty()


def ask_drafts(output: Output, paths: Iterable[str]) -> DraftChoice:
    """The person's choice for their uncommitted changes; they are left for an answer that is none."""
    drafts = list(paths)
    changes = counted(
        len(drafts),
        "Your uncommitted change ({paths}):",
        "Your {count} uncommitted changes ({paths}):",
        paths=names(drafts),
    )
    output.note(as_lines([changes]))
    answer = keyboard(said("commit now in your name (c), leave uncommitted (l), or ask later (a)? [l] "))
    return _CHOICES.get(answer.strip().lower()[:1], "leave")


def _plan(found: Prospect, wishes: Wishes) -> list[str]:
    """What would happen to the folder, a paragraph for each kind of thing."""
    lines: list[str] = []
    if found.has_work:
        lines.append(said("{root}: what `init` does here", root=found.root))
    if found.has_work and not found.was_vault:
        adds = (
            "notes and folders of the agent ({paths} …) in a commit of its own, which can be undone. "
            "No file of yours is changed"
        )
        own = map(found.home.at, (AGENT_NOTE, MEMORY_NOTE, ENTRIES))
        lines += _row("adds", said(adds, paths=listed(own)))
    if found.new_repository and found.files:
        first = "your {files} ({size:.1f} MB) as the first commit of a new git repository, in your name"
        lines += _row("commits", said(first, files=_files(found.files), size=max(found.megabytes, 0.1)))
    if found.left_out:
        out = names(said("{path}: {reason}", path=path, reason=said(why)) for path, why in found.left_out.items())
        leaves = "out of git: {files} ({paths}); git.binaries and git.largest_megabytes say which"
        lines += _row("leaves", said(leaves, files=_files(len(found.left_out)), paths=out))
    lines += _about_changes(found, wishes)
    beside = "the agent writes its own notes beside yours, and never changes yours"
    for name, count in found.taken.items():
        means = said(_SHARED.get(f"{found.home.name_of(name)}/", beside))
        shares = "{name}/ with you ({files}): {means}"
        lines += _row("shares", said(shares, name=name, files=_files(count), means=means))
    if found.taken:
        apart = "leaves these to you alone, with --under {folder}: all of the agent's there"
        lines += _row("or", said(apart, folder=_own_folder(found.root)))
    if not found.person.email:
        signs = (
            "your own commits as {name}, without an address: git does not know you "
            '(git config --global user.name "…", and user.email)'
        )
        lines += _row("signs", said(signs, name=found.person.name))
    if found.code:
        code = "this looks like source code ({paths}); a vault is a folder of notes"
        lines += _row("notice", said(code, paths=names(found.code)))
    return lines


def _about_changes(found: Prospect, wishes: Wishes) -> list[str]:
    """What becomes of the person's uncommitted changes in an existing repository."""
    lines: list[str] = []
    if found.staged:
        staged = "what you have staged ({files}) for your own git commit"
        lines += _row("leaves", said(staged, files=_files(found.staged)))
    paths = names(found.drafts)
    if found.drafts and wishes.drafts == "commit":
        one, more = (
            "your uncommitted change ({paths}) in your name",
            "your uncommitted {count} changes ({paths}) in your name",
        )
        lines += _row("commits", counted(len(found.drafts), one, more, paths=paths))
    elif found.drafts:
        one = "uncommitted, until you change it or type `vault-agent commit`: your change ({paths})"
        more = "uncommitted, until you change it or type `vault-agent commit`: your {count} changes ({paths})"
        lines += _row("leaves", counted(len(found.drafts), one, more, paths=paths))
    return lines


def _own_folder(root: Path) -> str:
    """The name that is proposed for the folder of all that is the agent's."""
    return next((name for name in _OWN_FOLDERS if not (root / name).exists()), _OWN_FOLDERS[-1])


def _row(what: str, text: str) -> list[str]:
    """A paragraph that is as wide as the terminal, with its first word in a column of its own."""
    width = min(size(error=True)[0], 100)
    return wrap_text(f"  {padded(said(what), 8)} {text}", width, subsequent_indent=" " * 11).splitlines()


def _files(number: int) -> str:
    return counted(number, "1 file", "{count} files")


def names(items: Iterable[str]) -> str:
    """The first few of the names, and how many more there are."""
    return listed(items, _SHOWN)


def _ask(output: Output, found: Prospect, wishes: Wishes, drafts: DraftChoice | None) -> Wishes:
    """The wishes with the person's answers; raises `UserError` if they do not want to go on."""
    if found.has_work and not confirm(said("Make this folder a vault?"), default=not found.code, error=True):
        raise UserError(
            "nothing was changed", hint="{program} init PATH, with the folder of your notes", program=PROGRAM
        )
    if found.drafts and drafts is None:
        wishes = replace(wishes, drafts=ask_drafts(output, found.drafts))
    if found.taken and wishes.under is None and not wishes.watch_inbox:
        own = _own_folder(found.root)
        question = "Leave these folders to you alone, and put all that is the agent's into {folder}/?"
        if confirm(said(question, folder=own), default=True, error=True):
            found, wishes = replace(found, taken={}), replace(wishes, under=own)
    if found.home.at(INBOX).rstrip("/") in found.taken and not wishes.watch_inbox:
        question = said("{folder} is yours: shall every new note in it be a request to the agent?", folder=INBOX)
        wishes = replace(wishes, watch_inbox=confirm(question, error=True))
    if not found.person.email:
        asked = said("Your name for your own commits (Enter: {name}): ", name=found.person.name)
        name = keyboard(asked).strip() or found.person.name
        email = _email()
        given = name != found.person.name or email
        wishes = replace(wishes, author=Person(name, email) if given else None)
    return wishes


def _email() -> str:
    """The person's e-mail address, empty for none. It would stand in every commit, so what has no @ is asked again."""
    asked = said("Your e-mail address for them (Enter: none): ")
    while (email := keyboard(asked).strip()) and "@" not in email:
        asked = said("{text} has no @. Your e-mail address (Enter: none): ", text=email)
    return email
