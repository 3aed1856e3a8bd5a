"""The private folder of a vault, outside the vault and named by the vault's id: lock, journal, queue.

The id is stored in the repository's own folder, which is neither cloned nor synced. So a clone gets a new id, and a
moved vault keeps its id. A copied vault is recognised because the original still exists.
"""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent.clock import Clock
from agent.config.directories import VAULT_FILE
from agent.config.private import clear_way, own_folder, write
from agent.dataclass import dataclass
from agent.errors import NotAVault
from agent.git.repository import Place, locate
from agent.vault.day_notes import load_day_notes
from agent.vault.folders import AGENT_NOTE, APPROVALS, ENTRIES, MEMORY_NOTE, SESSIONS, AgentFolder
from agent.vault.private_notes import PrivateNotes

if TYPE_CHECKING:
    from agent.vault.options import Options

DAEMON_LOCK = "daemon.lock"
"""The private file that the vault's daemon locks while it runs."""
FORGETTING = "forgetting.json"
"""The private file that describes a purge while it runs."""
CHAT_HISTORY = "chat_history"
"""The private file with what the person has typed in chats: a chat offers it again."""
SYNC_STATE = "sync.json"
"""The private file with what is known of the remotes; there is none where the vault is not kept in step."""
NOTICES, OCCURRENCES = "notices", "occurrences"
"""The lines in `records` with what was raised, decided and delivered of the agent's notices, and with what was decided
about each time of a job."""
OUTLINES = "entries.known"
"""The private file with what the upkeep of memory knows of the entries; it has fingerprints of their text."""
SET_ASIDE = "set-aside"
"""The private folder with what came in through channels and cannot be read."""
RESEARCH_RECORDS = "research"
"""The private folder with what unfinished researches of earlier versions have left."""
GIVEN_TEXTS = "given-texts"
"""The private folder with the texts that models were given in conversations, to the letter."""
ASKED = "asked"
"""The private folder with the records of what the person is asked, one folder for each kind."""
_TELLING = (AGENT_NOTE, MEMORY_NOTE, ENTRIES, SESSIONS, APPROVALS)
"""Names in the table of folders; where one of them is, the agent has lived."""
_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")


@dataclass(frozen=True, slots=True)
class Layout:
    """The private folder of one vault."""

    id: str
    folder: Path

    @property
    def lock(self) -> Path:
        return self.folder / "writer.lock"

    @property
    def journal(self) -> Path:
        return self.folder / "journal.jsonl"

    @property
    def held(self) -> Path:
        return self.folder / "held"

    @property
    def queue(self) -> Path:
        return self.folder / "queue"

    @property
    def signing(self) -> Path:
        return self.folder / "signing"


def layout(place: Place, state: Path, clock: Clock) -> Layout:
    """The private folder of this vault under `state`, created if it is missing."""
    mark = _mark(place)
    known = _read(mark)
    if known is None or _is_a_copy(state / known, place.root, mark):
        known = clock.new_id()
        mark.parent.mkdir(exist_ok=True)
        _write(mark, known)
    folder = state / known
    own_folder(state)
    own_folder(folder)
    if _read_text(folder / "root") != str(place.root):
        _write(folder / "root", str(place.root))
    return Layout(known, folder)


def known_id(root: Path) -> str:
    """The id of the vault at `root`, empty for one that was not opened yet; reads only."""
    try:
        place = locate(root)
    except (NotAVault, OSError):
        return ""
    return (_read(_mark(place)) or "") if place is not None else ""


def known_roots(state: Path) -> tuple[Path, ...]:
    """The roots of the vaults that were opened on this machine and are still there, sorted; reads only."""
    found = {
        Path(root) for file in state.glob("*/root") if _ID.fullmatch(file.parent.name) and (root := _read_text(file))
    }
    return tuple(sorted(root for root in found if (root / VAULT_FILE).is_file()))


def forget_mark(place: Place) -> None:
    """Take what a vault has in its repository's own folder out of it, for a folder that is no vault any more.

    The private folder stays, as the record of its last change is there.
    """
    mark = _mark(place)
    mark.unlink(missing_ok=True)
    if not any(mark.parent.glob("id*")):  # another folder of the repository may be a vault, too
        (mark.parent / "settings.json").unlink(missing_ok=True)
    with suppress(OSError):  # not empty
        mark.parent.rmdir()


def settle_home(private: Layout, root: Path, options: "Options") -> AgentFolder:
    """Where the agent's folders and the notes of days lie in the vault."""
    home = _recorded_home(private, root, options.home)
    private_notes = PrivateNotes(root, home.may_be_private)

    def is_free(path: str) -> bool:
        return home.is_of_the_person(path) and not private_notes.cover(path)

    days = load_day_notes(root, options.language, is_free)
    return AgentFolder(home.path, days)


def _recorded_home(private: Layout, root: Path, home: AgentFolder) -> AgentFolder:
    """Where the agent's folders lie in the vault, recorded: as the settings say, or where they are still.

    The rules for a note depend on it, so that settings which arrive with a pull must not change it.
    """
    file = private.folder / "home"
    before = _read_text(file)
    if before == f"./{home.path}":
        return home
    known = AgentFolder(before.removeprefix("./"))
    if before and any(os.path.lexists(root / known.at(name)) for name in _TELLING):
        return known
    _write(file, f"./{home.path}")
    return home


def _mark(place: Place) -> Path:
    name = f"id-{place.prefix.strip('/').replace('/', '-')}" if place.prefix else "id"
    return place.gitdir / "vault-agent" / name


def _read(mark: Path) -> str | None:
    text = _read_text(mark)
    return text if _ID.fullmatch(text) else None


def _is_a_copy(folder: Path, root: Path, mark: Path) -> bool:
    """True if the id belongs to another vault that still exists at its path."""
    owner = _read_text(folder / "root")
    if not owner or Path(owner) == root or _same(Path(owner), root):
        return False
    try:
        place = locate(Path(owner))
    except (NotAVault, OSError):
        return False
    return place is not None and _read_text(place.gitdir / "vault-agent" / mark.name) == _read_text(mark)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _read_text(path: Path) -> str:
    try:
        text = path.read_text("utf-8", "surrogateescape").strip()
    except OSError:
        return ""
    return "" if "\0" in text else text  # damaged: no path contains a NUL


def _write(path: Path, text: str) -> None:
    draft = path.with_name(path.name + f".{os.getpid()}.new")
    write(draft, f"{text}\n".encode("utf-8", "surrogateescape"))
    clear_way(path)
    draft.replace(path)
