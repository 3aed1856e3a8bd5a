"""The machines that have the vault: a note for each.

A machine's note says when it was seen last, by the day, so that it is at most one commit a day. A vault that is not
synced has none.
"""

from datetime import date

from agent.config.ssh_key import PublicKey, parse_public_key
from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.texts import text
from agent.vault.change import Stamp
from agent.vault.folders import MACHINES
from agent.vault.store import Vault
from agent.workspace.machine import MACHINE, machine_path, open_claims, plain_name, this_machine
from agent.workspace.workspace import Workspace

_LONGEST_VERSION = 80
"""The characters of a version that are read; one between releases names its commit and its day."""


@dataclass(frozen=True, slots=True)
class MachineNote:
    """The note of a machine; `last_seen` None if it says nothing that can be read.

    `signing_key` is only what the note says: anybody who can write to the remote can write it.
    """

    id: str
    name: str
    path: str
    last_seen: date | None
    has_daemon: bool
    version: str
    signing_key: PublicKey | None = None


@dataclass(frozen=True, slots=True)
class SessionElsewhere:
    """A session whose run goes on on another machine, or `waits` there for its person."""

    path: str
    waits: bool


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A signing key that the person has approved on this machine, or that the notes of other `machines` show."""

    fingerprint: str
    machines: tuple[str, ...]
    is_approved: bool


def known_machines(vault: Vault) -> tuple[MachineNote, ...]:
    """The machines that have a note in the vault, by name."""
    folder = vault.place.root / vault.home.at(MACHINES)
    paths = sorted(folder.glob("*.md")) if folder.is_dir() else ()
    found = (_load_machine(vault, path.relative_to(vault.place.root).as_posix()) for path in paths)
    return tuple(each for each in found if each is not None)


def other_machines(vault: Vault) -> tuple[MachineNote, ...]:
    """The same without this machine."""
    return tuple(each for each in known_machines(vault) if each.id != vault.id)


def known_keys(vault: Vault) -> tuple[KnownKey, ...]:
    """The approved keys, then those that other machines show."""
    approved = vault.provenance.answers.load().keys
    names_by_key: dict[str, tuple[str, ...]] = {key: () for key in sorted(approved)}
    for each in other_machines(vault):
        if each.signing_key is not None:
            key = each.signing_key.fingerprint
            names_by_key[key] = (*names_by_key.get(key, ()), each.name)
    return tuple(KnownKey(key, names, key in approved) for key, names in names_by_key.items())


def note_machine(workspace: Workspace, *, has_daemon: bool) -> bool:
    """Write this machine's note if it says something else, or was written on another day; True if it was written.

    Raises what a transaction does.
    """
    vault = workspace.vault
    if open_claims(workspace).remote is None:
        return False
    machine, today = this_machine(workspace), workspace.clock.now().date()
    path = machine_path(vault, machine.name)
    key = vault.signing_key.public
    now = MachineNote(machine.id, machine.name, path, today, has_daemon, program_version(), key)
    known = [each for each in known_machines(vault) if each.id == machine.id]
    if known == [now]:
        return False
    header: dict[str, Value] = {
        "id": machine.id,
        "type": MACHINE,
        "last_seen": today,
        "daemon": has_daemon,
        "version": now.version,
    }
    if key is not None:
        header["signing_key"] = key.line
    about = text("machine.about", workspace.settings.vault.language)
    data = Note.compose(header, f"# {machine.name}\n\n{about}\n").data
    with vault.transaction(f"machine: {machine.name}", Stamp("agent", tool=MACHINE)) as change:
        for each in known:
            if each.path != path:
                change.delete(each.path)
        change.write(path, vault.read(path), data)
    return True


def program_version() -> str:
    """The version of this program; empty if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # with a reader of e-mails: for those who ask

    try:
        return version("vault-agent")
    except PackageNotFoundError:
        return ""


def _load_machine(vault: Vault, path: str) -> MachineNote | None:
    note = Note.parse(vault.read(path) or b"")
    if note.type != MACHINE or not note.id:
        return None
    seen = note.header.get("last_seen")
    name = plain_name(path.rpartition("/")[2].removesuffix(".md"))
    return MachineNote(
        note.id,
        name,
        path,
        seen if type(seen) is date else None,
        note.header.get("daemon") is True,
        (note.string("version") or "")[:_LONGEST_VERSION],
        parse_public_key(note.string("signing_key") or ""),
    )
