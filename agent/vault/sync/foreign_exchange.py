"""Hands the record of foreign text (`provenance.foreign_record`) to a vault's other machines, and takes theirs in.

The record is a reference of the remote, as of this repository; it is sent before the branch, so that nobody has the
text without knowing what it is. Where only the person writes, the keys of their machines are there as well: so machines
that share such a remote believe each other's rows on any other. Who can only read that remote could forge rows, and
with them only make text distrusted.
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import field

from agent.config.directories import is_clock_set
from agent.dataclass import dataclass
from agent.git.network import Network, RefUpdate
from agent.git.repository import OWN_REFS, common_folder, ref_commit
from agent.vault.provenance.foreign_record import FOREIGN_REF, parse_keys, rows_at
from agent.vault.provenance.remotes import plain_address
from agent.vault.store import Vault
from agent.vault.sync.state import SyncedRemote

KEYS_REF = f"{OWN_REFS}keys"
"""The reference of a remote on the keys of the machines that share it."""
_COPIES = f"{OWN_REFS}foreign-of/"
"""The references in this repository on what each remote had last."""
_LARGEST = 100_000
"""Bytes of a list of keys."""
_MOST_COMMITS = 200_000
"""Commits that are looked at before they go on to a remote; of more, the newest are."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class ForeignExchange:
    """The exchange of one round with one remote."""

    vault: Vault
    network: Network
    remote: SyncedRemote
    _there: Mapping[str, str] = field(default_factory=dict)

    def refs(self) -> list[str]:
        """The references that a round asks the remote for, beside its branch."""
        return [FOREIGN_REF, *([KEYS_REF] if self._is_mine else [])]

    def refspecs(self, there: Mapping[str, str]) -> list[str]:
        """What to fetch of what the remote has (ids by reference) and was not taken in before."""
        self._there = {ref: there[ref] for ref in self.refs() if ref in there}
        return [f"+{ref}:{self._copy(ref)}" for ref, oid in self._there.items() if self._copied(ref) != oid]

    def take(self) -> None:
        """Take in the keys and rows that were fetched; before anything else looks at the commits that came along."""
        foreign, git = self.vault.provenance.foreign, self.vault.git
        if KEYS_REF in self._there:
            blob = self._copied(KEYS_REF)
            foreign.add_keys(parse_keys(git.small_blobs([blob], _LARGEST).get(blob, b"").decode("utf-8", "replace")))
        if FOREIGN_REF in self._there:
            foreign.take(rows_at(git, self._copied(FOREIGN_REF)))

    def hand_over(self, head: str, theirs: str) -> None:
        """Send what the remote does not know, before a push of `head` to where `theirs` is (empty: nothing is there).

        Of several machines that send at the same moment one is refused, and sends again in its next round.
        """
        if is_clock_set():
            return  # nothing is pushed then: `Network.push` says so
        provenance = self.vault.provenance
        if head != theirs:
            provenance.foreign.add_commits(self.vault.clock.new_id(), provenance.handed_on(self._new(head, theirs)))
        wanted = {FOREIGN_REF: provenance.foreign.publish(), **({KEYS_REF: self._keys()} if self._is_mine else {})}
        updates = [RefUpdate(oid, ref, self._there.get(ref, "")) for ref, oid in wanted.items()]
        updates = [each for each in updates if each.source and each.source != each.expected]
        refused = {each.ref: each.reason for each in self.network.push(self.remote.address, updates)}
        for each in updates:
            if each.ref in refused:
                logger.info("%s did not take %s: %s", self.remote.name, each.ref, refused[each.ref])
            else:
                self.vault.git.run("update-ref", self._copy(each.ref), each.source)

    @property
    def _is_mine(self) -> bool:
        return self.vault.provenance.answers.load().is_mine(plain_address(self.remote.address))

    def _new(self, head: str, theirs: str) -> list[str]:
        """The commits that the remote, and other remotes to which only the person writes, do not have."""
        answers, vault = self.vault.provenance.answers.load(), self.vault
        mine = [name for name, address in vault.provenance.addresses().items() if answers.is_mine(address)]
        known = [f"^{theirs}"] if theirs else []
        hidden = [f"--glob=refs/remotes/{name}/*" for name in mine]
        asked = ["rev-list", f"--max-count={_MOST_COMMITS}", head, *known, *(["--not", *hidden] if hidden else [])]
        return vault.git.run(*asked).decode().split()

    def _keys(self) -> str:
        """A blob with the keys of this vault's machines."""
        text = json.dumps(sorted(self.vault.provenance.foreign.keys())).encode()
        return self.vault.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=text).decode().strip()

    def _copy(self, ref: str) -> str:
        return f"{_COPIES}{self.remote.name}/{ref.removeprefix(OWN_REFS)}"

    def _copied(self, ref: str) -> str:
        return ref_commit(common_folder(self.vault.place.gitdir), self._copy(ref))
