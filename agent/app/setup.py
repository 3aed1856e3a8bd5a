"""Creation of a vault with this machine's settings, with what git is told of it, and how all of that is taken back."""

import json
import re
import shutil
import sys
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from agent.app.welcome import filled_in, question_for
from agent.config.directories import VAULT_FILE, directories, process_clock
from agent.config.load import load_vault_settings
from agent.config.resources import resource
from agent.config.settings import Settings
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.texts import Language, text
from agent.vault import hooks, merge_driver_setup
from agent.vault.change import Outcome
from agent.vault.drafts import Drafts, drafts_file, save_drafts
from agent.vault.folders import INBOX, AgentFolder, agent_folder
from agent.vault.initialise import Initialised, initialise, keep_as_drafts, let_passing_files_in, taken_folders
from agent.vault.layout import forget_mark
from agent.vault.prospect import Person, Prospect, look_at
from agent.vault.store import Vault
from agent.vault.template import Left, laid_first, read_template
from agent.workspace.workspace import options

DraftChoice: TypeAlias = Literal["commit", "leave", "later"]
"""What becomes of uncommitted changes: `later` leaves them, and asks again when the daemon starts at a terminal."""
EditChoice: TypeAlias = Literal["auto", "off"]
"""The setting `git.human_commits`: whether the daemon commits the person's own edits."""
_PROGRAM = "vault-agent"
_OWN_FOLDERS = ("Agent", "Vault agent", "vault-agent")
"""Names for the folder of all that is the agent's, in a folder with files: the first that is free."""
_FOLDER_LINE = re.compile(r"^( +)# folder:.*$", re.MULTILINE)
_EDITS_LINES = re.compile(r"^# git:\n#   human_commits:[^#\n]*", re.MULTILINE)
"""The lines of the template's settings for `vault.folder` and `git.human_commits`."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person wants of a new vault. `language`: of its notes, None for the settings'; in a new vault where these
    name none it is `spoken`, that of the terminal. `restore`: lay missing files of the template again. `author`: who
    signs their commits, None for what git knows. `watch_inbox`: every note in an inbox/ that was there before is a
    request. `drafts`: what becomes of their uncommitted changes. `under`: the folder for all that is the agent's; None
    for the settings', else a folder of its own among files of the person, and the vault's root where there are none.
    `edits`: who commits their own edits, None for the settings'. `hooks`: put our git hooks into the repository."""

    language: Language | None = None
    restore: bool = False
    author: Person | None = None
    watch_inbox: bool = False
    drafts: DraftChoice = "leave"
    under: str | None = None
    spoken: Language = "en"
    edits: EditChoice | None = None
    hooks: bool = False


@dataclass(frozen=True, slots=True)
class MadeVault:
    """A new or existing vault, its language, and a question that is worth asking there. `no_driver`: why git merges
    notes without this program, empty if it does. `hooks`: those that were installed, `hooks_left`: those that were
    not."""

    done: Initialised
    language: Language
    question: str
    no_driver: str = ""
    hooks: tuple[str, ...] = ()
    hooks_left: tuple[Left, ...] = ()


@dataclass(frozen=True, slots=True)
class _Parts:
    settings: Settings
    language: Language
    home: AgentFolder
    template: dict[str, bytes] = field(default_factory=dict)


def look(path: Path, wishes: Wishes) -> Prospect:
    """What there is in a folder that may become a vault, and what it would be given; raises as `make_vault` does, and
    changes nothing."""
    parts = _parts(path, wishes)
    found = look_at(path, ignore_rules(), directories().state, process_clock(), options(parts.settings))
    edits = wishes.edits or parts.settings.git.human_commits
    adds = tuple(each for each in parts.template if not (found.root / each).exists())
    return replace(found, adds=adds, language=parts.language, commits_edits=edits == "auto")


def make_vault(path: Path, wishes: Wishes) -> MadeVault:
    """Make the folder a vault with this machine's settings, and tell git of it."""
    parts = _parts(path, wishes)
    template, language = parts.template, parts.language
    question = question_for(path.resolve(), parts.home, language)
    template = filled_in(template, question)
    if not wishes.watch_inbox and taken_folders(path.resolve(), parts.home, INBOX):
        template[VAULT_FILE] += f"\n{text('init.own_inbox', language)}".encode()
    done = initialise(
        path,
        template,
        directories().state,
        process_clock(),
        replace(options(parts.settings), language=language),
        ignore=ignore_rules(),
        restore=wishes.restore,
        author=wishes.author,
    )
    if not done.was_vault and not done.new_repository:
        decide_drafts(done.vault, wishes.drafts)
    no_driver = merge_driver_setup.install(done.vault, hook_program())
    installed, left = hooks.install(done.vault, hook_scripts(), hook_program()) if wishes.hooks else ([], [])
    return MadeVault(done, language, question, no_driver, tuple(installed), tuple(left))


def decide_drafts(vault: Vault, choice: DraftChoice) -> Outcome:
    """Commit the person's uncommitted changes in their name, or leave them, once or to be asked about again."""
    if choice == "commit":
        save_drafts(drafts_file(vault.private_folder), Drafts())
        return vault.commit_human(confirmed=True)
    keep_as_drafts(vault, ask=choice == "later")
    return Outcome()


def take_back_setup(vault: Vault) -> None:
    """Take out what `make_vault` told git, for a folder that is no vault any more: the merge driver, our hooks, the
    rules for passing files, its mark there, the empty folder for requests; and the index. What a person has changed of
    it stays."""
    merge_driver_setup.remove(vault)
    hooks.remove(vault, hook_scripts(), hook_program())
    let_passing_files_in(vault, ignore_rules())
    forget_mark(vault.place)
    shutil.rmtree(directories().cache / vault.id, ignore_errors=True)
    with suppress(OSError):  # not empty, or not there
        (vault.place.root / vault.home.at(INBOX)).rmdir()
        if vault.home.path:
            (vault.place.root / vault.home.path).rmdir()


def own_folder_in(root: Path) -> str:
    """The name that is proposed for the folder of all that is the agent's."""
    there = {each.name.casefold() for each in root.iterdir()} if root.is_dir() else set()
    return next((name for name in _OWN_FOLDERS if name.casefold() not in there), _OWN_FOLDERS[-1])


def ignore_rules() -> bytes:
    """The rules for files that come and go, which git shall not follow in a vault."""
    return (resource("vault_template") / "common" / "dot-gitignore").read_bytes()


def _parts(path: Path, wishes: Wishes) -> _Parts:
    """The settings, the language and the template for a folder; raises `UserError` for an agent's folder that cannot
    be."""
    loaded = load_vault_settings(path if path.is_dir() else None)
    settings = loaded.settings
    was_vault = (path / VAULT_FILE).is_file()
    is_named = was_vault or loaded.origin("vault.language").layer != "default"
    language = wishes.language or (settings.vault.language if is_named else wishes.spoken)
    home = agent_folder(settings.vault.folder)
    if wishes.under is not None and (wanted := agent_folder(wishes.under)) != home:
        if was_vault:
            where = home.path or "the vault itself"
            raise UserError(
                "{path} is a vault already: the agent's notes are in {where}",
                hint="leave out --under",
                path=path,
                where=where,
            )
        home = wanted
    elif wishes.under is None and not home.path and not was_vault and _has_files(path):
        home = agent_folder(own_folder_in(path))
    settings = settings.with_sections(vault=replace(settings.vault, folder=home.path))
    template = laid_first(read_template(resource("vault_template"), language), home)
    template[VAULT_FILE] = _marker(template[VAULT_FILE].decode(), home, wishes.edits).encode()
    return _Parts(settings, language, home, template)


def _has_files(path: Path) -> bool:
    return path.is_dir() and any(not each.name.startswith(".") for each in path.iterdir())


def _marker(marker: str, home: AgentFolder, edits: EditChoice | None) -> str:
    """The settings of a new vault, with what was chosen."""
    if home.path:
        line = f"folder: {json.dumps(home.path, ensure_ascii=False)}"
        marker = _FOLDER_LINE.sub(lambda found: found[1] + line, marker)
    if edits is not None:
        marker = _EDITS_LINES.sub(f'git:\n  human_commits: "{edits}"  ', marker)
    return marker


def hook_scripts() -> dict[str, bytes]:
    """The package's git hooks, by name."""
    return {name: (resource("hooks") / name).read_bytes() for name in hooks.NAMES}


def hook_program() -> Path | None:
    """The full path of the program, for hooks that an editor starts with a short PATH; None if it is not found."""
    beside = Path(sys.executable).parent / _PROGRAM
    if beside.is_file():
        return beside
    found = shutil.which(_PROGRAM)
    return Path(found).absolute() if found else None
