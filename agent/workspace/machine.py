"""This machine among those with the same vault: its name, and its claims."""

import os
from typing import TYPE_CHECKING

from agent.lazy import later
from agent.markdown.note import Note
from agent.vault.folders import MACHINES
from agent.vault.store import Vault
from agent.vault.sync.claims import Claims, Machine
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.vault.sync.shared_claims import SharedClaims
    from agent.workspace.shared_place import shared_database
else:  # an extra
    SharedClaims = later("agent.vault.sync.shared_claims", "SharedClaims")
    shared_database = later("agent.workspace.shared_place", "shared_database")

MACHINE = "machine"
"""The type of a machine's note."""
_LONGEST = 40
"""Characters of a name: it is also the name of a note."""


def this_machine(workspace: Workspace) -> Machine:
    """This machine: its id is that of its clone of the vault, so that two clones on one host are two machines.

    A name that another machine has already gets the end of the id.
    """
    vault = workspace.vault
    name = plain_name(workspace.settings.machine.name) or plain_name(os.uname().nodename.partition(".")[0])
    name = name or "machine"
    note = Note.parse(vault.read(machine_path(vault, name)) or b"")
    is_taken = note.type == MACHINE and note.id not in (None, vault.id)
    return Machine(vault.id, f"{name}-{vault.id[-4:].lower()}" if is_taken else name)


def machine_path(vault: Vault, name: str) -> str:
    """The path of a machine's note."""
    return vault.home.at(f"{MACHINES}{name}.md")


def plain_name(text: str) -> str:
    """The text as the name of a machine: letters, digits, `-` and `_`, not too long."""
    plain = "".join(each if each.isalnum() or each in "-_" else "-" for each in text.strip())
    return plain.strip("-")[:_LONGEST].strip("-")


def open_claims(workspace: Workspace) -> Claims:
    """The claims of the vault, as this machine takes them."""
    machine, run_on = this_machine(workspace), plain_name(workspace.settings.sync.run_on)
    if workspace.settings.sync.claims == "postgres":
        return SharedClaims(workspace.vault, machine, run_on, shared_database(workspace))
    return Claims(workspace.vault, machine, run_on)
