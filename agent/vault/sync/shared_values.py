"""Small texts that each machine shows to the others: references of the remote, outside of the vault's history.

Each machine writes its own reference, `refs/vault-agent/<kind>/<machine>`, and so none has to be merged, and none makes
a commit. What is there may be written by whoever may push: the caller judges it.
"""

from collections.abc import Mapping
from dataclasses import field

from agent.dataclass import dataclass
from agent.git.network import Network, RefUpdate
from agent.git.repository import OWN_REFS
from agent.vault.layout import SYNC_STATE
from agent.vault.store import Vault
from agent.vault.sync.state import StateFile, SyncedRemote

_COPIES = f"{OWN_REFS}shown/"
_SECONDS = 30.0
_LARGEST = 10_000
"""Bytes of a text; a larger one is left out."""
_MOST = 50
"""Machines that are read."""


@dataclass(slots=True)
class SharedValues:
    """The texts of one kind in a vault, on one remote."""

    vault: Vault
    remote: SyncedRemote
    kind: str
    _last_text: str = field(default="", init=False)
    _known: dict[str, tuple[str, str]] = field(default_factory=dict, init=False)

    def show(self, machine: str, text: str) -> None:
        """Show a text to the others, if it is not what was shown last; raises what `Network` does."""
        if text == self._last_text:
            return
        oid = self.vault.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=text.encode()).decode().strip()
        ref, network = self._ref(machine), Network(self.vault.git, _SECONDS)
        before = network.list_refs(self.remote.address, [ref]).get(ref, "")
        if before == oid or not network.push(self.remote.address, [RefUpdate(oid, ref, before)]):
            self._last_text = text

    def others(self, machine: str) -> Mapping[str, str]:
        """The text of each other machine, by its id; raises what `Network` does."""
        network, git = Network(self.vault.git, _SECONDS), self.vault.git
        start = self._ref("")
        found = network.list_refs(self.remote.address, [f"{start}*"])
        named = {ref.removeprefix(start): oid for ref, oid in found.items() if ref != self._ref(machine)}
        new = [name for name, oid in named.items() if self._known.get(name, ("", ""))[0] != oid][:_MOST]
        copies = {name: f"{_COPIES}{self.kind}/{name}" for name in new}
        if copies:
            network.fetch(self.remote.address, [f"+{start}{name}:{copy}" for name, copy in copies.items()])
            texts = git.small_blobs((named[name] for name in new), _LARGEST)
            self._known |= {name: (named[name], texts.get(named[name], b"").decode("utf-8", "replace")) for name in new}
            rows = "".join(f"delete {copy}\0\0" for copy in copies.values())
            git.run("update-ref", "--stdin", "-z", stdin=rows.encode())
        return {name: self._known[name][1] for name in named if name in self._known}

    def _ref(self, machine: str) -> str:
        return f"{OWN_REFS}{self.kind}/{machine}"


def is_paused(vault: Vault) -> bool:
    """True if the person has paused sync."""
    return StateFile(vault.private_folder / SYNC_STATE).load().is_paused
