"""The one screen of `init` and `daemon --init`: what is added and where, what is committed and in whose name.

Enter takes it, and a letter changes one line of it first. Nothing is changed before that; without a terminal it is
shown, and done only with --yes.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from agent.app.setup import DraftChoice, MadeVault, Wishes, decide_drafts, look, make_vault, own_folder_in
from agent.config.directories import VAULT_FILE
from agent.dataclass import dataclass
from agent.errors import ConfigError, UserError
from agent.interfaces.cli.click_texts import wrap_text
from agent.interfaces.cli.language import counted, listed, tr
from agent.interfaces.cli.output import PROGRAM, Output
from agent.interfaces.cli.printing import as_lines, padded, size
from agent.interfaces.cli.prompt import keyboard
from agent.texts import LANGUAGES, text
from agent.vault.folders import AGENT_NOTE, ARCHIVE, DAILY, INBOX, MEMORY_NOTE, SKILLS, TASKS
from agent.vault.prospect import Person, Prospect

_SHOWN = 5
_HYPHEN = "\ue001"
"""Stands for a hyphen while lines are broken: a name such as vault-agent is not."""
_SHARED = {
    DAILY: "the agent adds a section of its own to the note of the day, below your lines",
    ARCHIVE: "search leaves it out, and what has expired moves there",
    TASKS: "only notes of the agent's own form count as its tasks",
    SKILLS: "a note SKILL.md there is offered to you as a skill; it is used only after your yes",
}
"""What it means for a folder of the person that the agent uses one of this name."""
_PARTS = {
    AGENT_NOTE: "your standing instructions",
    MEMORY_NOTE: "facts to keep",
    VAULT_FILE: "its settings; this file marks the vault",
    INBOX: "for requests to the agent",
}
_WELCOME = "what to try, and what comes later"
_NEXT_DRAFTS: dict[DraftChoice, DraftChoice] = {"leave": "commit", "commit": "later", "later": "leave"}
_REFUSALS = frozenset("qn")
"""Letters that leave all as it is: `n` is a no to most people."""
_CHOICES: dict[str, DraftChoice] = {"c": "commit", "l": "leave", "a": "later"}


def adopt(output: Output, path: Path, wishes: Wishes, *, drafts: DraftChoice | None, yes: bool) -> MadeVault:
    """Show what would happen, ask where a person is at the terminal, and make the folder a vault.

    Raises `UserError` if the person does not want it, and without a terminal and without `yes`.
    """
    wishes = replace(wishes, drafts=drafts or "leave")
    found = look(path, wishes)
    if not found.was_vault or found.new_repository:
        if not yes and is_asked(output):
            wishes = _Screen(output, path, wishes, found).ask()
        else:
            if found.has_work or not yes:
                output.note(as_lines(_plan(found, wishes)))
            if not yes:
                raise _not_asked(found, path)
    made = make_vault(path, wishes)
    if found.was_vault and drafts is not None:
        decide_drafts(made.done.vault, drafts)
    if found.was_vault and wishes.watch_inbox:
        output.note(
            tr(
                "{root} was a vault before: {file} there has the setting inbox.every_note",
                root=found.root,
                file=VAULT_FILE,
            )
        )
    return made


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
        paths=few_names(drafts),
    )
    output.note(as_lines([changes]))
    answer = keyboard(tr("commit now in your name (c), leave uncommitted (l), or ask later (a)? [l] "))
    return _CHOICES.get(answer.strip().lower()[:1], "leave")


@dataclass(slots=True)
class _Screen:
    """The screen while the person reads it and changes what they like."""

    output: Output
    path: Path
    wishes: Wishes
    found: Prospect

    def ask(self) -> Wishes:
        """Show it until they take it; raises `UserError` if they do not want it."""
        while True:
            self.output.note(as_lines(_plan(self.found, self.wishes)))
            changes = self._changes()
            keys = listed(f"{tr(what)} ({key})" for key, (what, _) in changes.items())
            self.output.note(as_lines(["", *_row("or", tr("change first: {keys}", keys=keys))]))
            usual = "y makes it a vault" if self.found.code else "Enter makes it a vault"
            try:
                answer = keyboard(tr("{usual}, q leaves all as it is: ", usual=tr(usual))).strip().lower()[:1]
            except EOFError:
                answer = "q"
            if answer == "y" or (not answer and not self.found.code):
                return self.wishes
            if answer in changes:
                self._change(changes[answer][1])
            elif answer in _REFUSALS:
                raise UserError(
                    "nothing was changed", hint="{program} init PATH, with the folder of your notes", program=PROGRAM
                )
            else:
                self.output.note(tr("there is no choice {answer} here", answer=answer or tr("Enter")))

    def _change(self, change: Callable[[], Wishes]) -> None:
        try:
            wishes = change()
            self.wishes, self.found = wishes, look(self.path, wishes)
        except EOFError:
            return
        except ConfigError as error:
            self.output.note(tr("not changed: {problem}", problem=tr(error.message)))

    def _changes(self) -> dict[str, tuple[str, Callable[[], Wishes]]]:
        """What can be changed here, by the letter that does it."""
        found, wishes = self.found, self.wishes
        edits = "off" if found.commits_edits else "auto"
        changes: dict[str, tuple[str, Callable[[], Wishes]]] = {}
        if not found.was_vault:
            changes["f"] = "the folder", self._folder
            changes["e"] = "your edits", lambda: replace(wishes, edits="off" if edits == "off" else "auto")
            after = LANGUAGES.index(found.language) + 1
            changes["l"] = "the language", lambda: replace(wishes, language=LANGUAGES[after % len(LANGUAGES)])
        if found.drafts:
            changes["d"] = "your changes", lambda: replace(wishes, drafts=_NEXT_DRAFTS[wishes.drafts])
        if _inbox(found):
            changes["i"] = "the inbox", lambda: replace(wishes, watch_inbox=not wishes.watch_inbox)
        changes["s"] = "your name", self._name
        changes["h"] = "the hooks", lambda: replace(wishes, hooks=not wishes.hooks)
        return changes

    def _folder(self) -> Wishes:
        usual = own_folder_in(self.found.root) if not self.found.home.path else ""
        asked = tr("The folder for all that is the agent's (/: the top; Enter: {folder}): ", folder=usual or "/")
        return replace(self.wishes, under=keyboard(asked).strip() or usual or "/")

    def _name(self) -> Wishes:
        person = self.wishes.author or self.found.person
        name = keyboard(tr("Your name for your own commits (Enter: {name}): ", name=person.name)).strip()
        email = _email(person.email)
        return replace(self.wishes, author=Person(name or person.name, email))


def _email(known: str) -> str:
    """The person's e-mail address, empty for none. It would stand in every commit, so what has no @ is asked again."""
    asked = tr("Your e-mail address for them (Enter: {email}): ", email=known or tr("none"))
    while (email := keyboard(asked).strip()) and "@" not in email:
        asked = tr("{text} has no @. Your e-mail address (Enter: none): ", text=email)
    return email or known


def _not_asked(found: Prospect, path: Path) -> UserError:
    hint = "look at the lines above, then repeat it with --yes: {program} init {path} --yes"
    if found.code:
        return UserError(
            "{root} looks like source code ({code}); nothing was changed",
            hint="name a folder for notes, or repeat the command with --yes: {program} init {path} --yes",
            root=found.root,
            code=found.code[0],
            program=PROGRAM,
            path=path,
        )
    return UserError(
        "nobody can be asked here, so nothing was changed in {root}",
        hint=hint,
        root=found.root,
        program=PROGRAM,
        path=path,
    )


def _plan(found: Prospect, wishes: Wishes) -> list[str]:
    """What would happen to the folder, a paragraph for each kind of thing."""
    lines = ["", tr("{root} becomes a vault:", root=found.root), ""]
    if not found.was_vault:
        lines += _tree(found)
    lines += _about_files(found)
    lines += _about_changes(found, wishes)
    lines += _about_folders(found, wishes)
    lines += _signs(found, wishes)
    if not found.was_vault:
        edits = (
            "your own edits when you pause, in your name (git.human_commits)"
            if found.commits_edits
            else "nothing of your own edits: you do that yourself (git.human_commits is off)"
        )
        lines += _row("later", tr("the daemon commits {edits}", edits=tr(edits)))
        name = text("language.name", found.language)
        lines += _row("speaks", tr("{language} in the notes that it writes", language=name))
    git = "merges notes with vault-agent; `vault-agent undo` of that commit takes this out again, too"
    lines += _row("git", tr(git))
    hooks = (
        "three scripts in .git/hooks: they look into your own commits for passwords and keys and for headers that "
        "cannot be read, and tell the agent of a pull or a checkout; hooks of yours stay"
    )
    lines += _row("hooks", tr(hooks) if wishes.hooks else tr("none; they could check your own commits for keys"))
    if found.code:
        code = "this looks like source code ({paths}); a vault is a folder of notes"
        lines += _row("notice", tr(code, paths=few_names(found.code)))
    return lines


def _tree(found: Prospect) -> Iterator[str]:
    """What is added, as a tree."""
    home = found.home.path
    entries = [path for path in found.adds if path != VAULT_FILE]
    inbox = [] if _inbox(found) else [found.home.at(INBOX)]
    tree = [*entries, *inbox]
    where = tr("in {folder}", folder=home) if home else tr("at the top")
    adds = (
        "{count} files {where} and an empty {inbox}, in one commit that can be undone; no file of yours is changed. "
        "All else comes with its first use"
        if inbox
        else "{count} files {where}, in one commit that can be undone; no file of yours is changed. "
        "All else comes with its first use"
    )
    yield from _row("adds", tr(adds, count=len(found.adds), where=where, inbox=INBOX))
    rows = [home] if home else []
    for path in tree:
        name = path.removeprefix(home)
        rows.append(f"{padded(('  ' if home else '') + name, 18)} {tr(_PARTS.get(name, _WELCOME))}")
    if VAULT_FILE in found.adds:
        rows.append(f"{padded(VAULT_FILE, 18)} {tr(_PARTS[VAULT_FILE])}")
    yield from (f"{'':11}{row}" for row in rows)


def _about_files(found: Prospect) -> Iterator[str]:
    """What the first commit of a new repository has, and what it leaves out."""
    if found.new_repository and found.files:
        first = "your {files} ({size:.1f} MB) as the first commit of a new git repository, in your name"
        yield from _row("commits", tr(first, files=_files(found.files), size=max(found.megabytes, 0.1)))
    if found.left_out:
        out = few_names(tr("{path}: {reason}", path=path, reason=tr(why)) for path, why in found.left_out.items())
        leaves = "out of git: {files} ({paths}); git.binaries and git.largest_megabytes say which"
        yield from _row("leaves", tr(leaves, files=_files(len(found.left_out)), paths=out))


def _about_changes(found: Prospect, wishes: Wishes) -> Iterator[str]:
    """What becomes of the person's uncommitted changes in an existing repository."""
    if found.staged:
        staged = "what you have staged ({files}) for your own git commit"
        yield from _row("leaves", tr(staged, files=_files(found.staged)))
    paths = few_names(found.drafts)
    if found.drafts and wishes.drafts == "commit":
        one, more = (
            "your uncommitted change ({paths}) in your name",
            "your uncommitted {count} changes ({paths}) in your name",
        )
        yield from _row("commits", counted(len(found.drafts), one, more, paths=paths))
    elif found.drafts:
        one = "uncommitted, until you change it or type `vault-agent commit`: your change ({paths})"
        more = "uncommitted, until you change it or type `vault-agent commit`: your {count} changes ({paths})"
        yield from _row("leaves", counted(len(found.drafts), one, more, paths=paths))
        if wishes.drafts == "later":
            yield from _row("asks", tr("about them again, when the daemon starts at a terminal"))


def _about_folders(found: Prospect, wishes: Wishes) -> Iterator[str]:
    """What becomes of the person's folders whose names the agent uses, too."""
    inbox = _inbox(found)
    beside = "the agent writes its own notes beside yours, and never changes yours"
    for name, count in found.taken.items():
        means = _SHARED.get(f"{found.home.name_of(name).casefold()}/", beside)
        if name == inbox:
            every = "every new note in it is a request to the agent"
            means = (
                every if wishes.watch_inbox else "a note there asks the agent only with `agent: ask`, as anywhere else"
            )
        shares = "{name}/ with you ({files}): {means}"
        yield from _row("shares", tr(shares, name=name, files=_files(count), means=tr(means)))
    for name, count in found.own_inboxes.items():
        apart = "your {name}/ ({files}) to you alone; the one for requests is {inbox}"
        yield from _row("leaves", tr(apart, name=name, files=_files(count), inbox=found.home.at(INBOX)))


def _signs(found: Prospect, wishes: Wishes) -> Iterator[str]:
    """How the person's own commits are signed, and the agent's."""
    person = wishes.author or found.person
    if person.email:
        signs = "your own commits as {name} <{email}>, the agent's as vault-agent"
    else:
        signs = (
            "your own commits as {name}, without an address: git does not know you "
            '(git config --global user.name "…", and user.email); the agent\'s as vault-agent'
        )
    yield from _row("signs", tr(signs, name=person.name, email=person.email))


def _inbox(found: Prospect) -> str:
    """The person's folder that the agent's inbox would be, as they spell it; empty if there is none."""
    ours = found.home.at(INBOX).rstrip("/").casefold()
    return next((name for name in found.taken if name.casefold() == ours), "")


def _row(what: str, text: str) -> list[str]:
    """A paragraph that is as wide as the terminal, with its first word in a column of its own."""
    width = min(size(error=True)[0], 100)
    whole = f"  {padded(tr(what), 8)} {text}".replace("-", _HYPHEN)
    return wrap_text(whole, width, subsequent_indent=" " * 11).replace(_HYPHEN, "-").splitlines()


def _files(number: int) -> str:
    return counted(number, "1 file", "{count} files")


def few_names(items: Iterable[str]) -> str:
    """The first few of the names, and how many more there are."""
    return listed(items, _SHOWN)
