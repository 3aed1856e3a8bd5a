"""Creation of a vault with this machine's settings, and the git hooks that are offered with it."""

import json
import re
import shutil
import sys
from dataclasses import replace
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
from agent.vault.change import Outcome
from agent.vault.drafts import Drafts, drafts_file, save_drafts
from agent.vault.folders import INBOX, agent_folder
from agent.vault.hooks import NAMES
from agent.vault.initialise import Initialised, initialise, keep_as_drafts, taken_folders
from agent.vault.prospect import Person, Prospect, look_at
from agent.vault.store import Vault
from agent.vault.template import placed, read_template
from agent.workspace.workspace import options

DraftChoice: TypeAlias = Literal["commit", "leave", "later"]
"""What becomes of uncommitted changes: `later` leaves them, and asks again when the daemon starts at a terminal."""
_PROGRAM = "vault-agent"
_FOLDER_LINE = re.compile(r"^( +)# folder:.*$", re.MULTILINE)
"""The line of the template's settings for `vault.folder`."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person wants of a new vault. `language`: of its notes, None for the settings'; in a new vault where these
    name none it is `spoken`, that of the terminal. `restore`: lay missing files of the template again. `author`: who
    signs their commits, None for what git knows. `watch_inbox`: every note in an inbox/ that was there before is a
    request. `drafts`: what becomes of their uncommitted changes. `under`: the folder for all that is the agent's, None
    for the settings', which is the vault's root in a new vault."""

    language: Language | None = None
    restore: bool = False
    author: Person | None = None
    watch_inbox: bool = False
    drafts: DraftChoice = "leave"
    under: str | None = None
    spoken: Language = "en"


def look(path: Path, wishes: Wishes) -> Prospect:
    """What there is in a folder that may become a vault; raises as `make_vault` does, and changes nothing."""
    settings, _, template = _parts(path, wishes)
    return look_at(path, template, directories().state, process_clock(), options(settings))


def make_vault(path: Path, wishes: Wishes) -> tuple[Initialised, Language, str]:
    """Make the folder a vault with this machine's settings; returns the result, the language, and a question that is
    worth asking there."""
    settings, language, template = _parts(path, wishes)
    root, home = path.resolve(), agent_folder(settings.vault.folder)
    question = question_for(root, home, language)
    template = filled_in(template, question)
    if not wishes.watch_inbox and home.at(INBOX).rstrip("/") in taken_folders(root, home):
        template[VAULT_FILE] += f"\n{text('init.own_inbox', language)}".encode()
    state, clock = directories().state, process_clock()
    done = initialise(path, template, state, clock, options(settings), restore=wishes.restore, author=wishes.author)
    if not done.was_vault and not done.new_repository:
        decide_drafts(done.vault, wishes.drafts)
    return done, language, question


def decide_drafts(vault: Vault, choice: DraftChoice) -> Outcome:
    """Commit the person's uncommitted changes in their name, or leave them, once or to be asked about again."""
    if choice == "commit":
        save_drafts(drafts_file(vault.private_folder), Drafts())
        return vault.commit_human(confirmed=True)
    keep_as_drafts(vault, ask=choice == "later")
    return Outcome()


def _parts(path: Path, wishes: Wishes) -> tuple[Settings, Language, dict[str, bytes]]:
    """The settings, the language and the template for a folder; raises `UserError` for an agent's folder that cannot
    be."""
    loaded = load_vault_settings(path if path.is_dir() else None)
    settings = loaded.settings
    is_named = (path / VAULT_FILE).is_file() or loaded.origin("vault.language").layer != "default"
    language = wishes.language or (settings.vault.language if is_named else wishes.spoken)
    home = agent_folder(settings.vault.folder)
    if wishes.under is not None and (wanted := agent_folder(wishes.under)) != home:
        if (path / VAULT_FILE).is_file():
            where = home.path or "the vault itself"
            raise UserError(
                "{path} is a vault already: the agent's notes are in {where}",
                hint="leave out --under",
                path=path,
                where=where,
            )
        home = wanted
    settings = settings.with_sections(vault=replace(settings.vault, folder=home.path))
    template = placed(read_template(resource("vault_template"), language), home)
    if home.path:
        line = f"folder: {json.dumps(home.path, ensure_ascii=False)}"
        marker = _FOLDER_LINE.sub(lambda found: found[1] + line, template[VAULT_FILE].decode())
        template[VAULT_FILE] = marker.encode()
    return settings, language, template


def hook_scripts() -> dict[str, bytes]:
    """The package's git hooks, by name."""
    return {name: (resource("hooks") / name).read_bytes() for name in NAMES}


def hook_program() -> Path | None:
    """The full path of the program, for hooks that an editor starts with a short PATH; None if it is not found."""
    beside = Path(sys.executable).parent / _PROGRAM
    if beside.is_file():
        return beside
    found = shutil.which(_PROGRAM)
    return Path(found).absolute() if found else None
