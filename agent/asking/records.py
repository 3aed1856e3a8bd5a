"""The records of what was asked on this machine, one folder for each kind, outside the vault.

A note in `approvals/` counts only together with its record: a clone, a pull or a tool can bring a note that looks
approved, but never the record.
"""

from collections.abc import Iterator

from agent.asking.older_records import older_proposals
from agent.asking.proposal import Proposal, ProposalKind, parse_proposal
from agent.config.durable import RecordFolder, process_lock
from agent.vault.glance import OLDER_FOLDERS
from agent.vault.layout import ASKED
from agent.vault.store import Vault

_PATIENCE = 10.0


def records_of(vault: Vault, kind: ProposalKind) -> RecordFolder[Proposal]:
    """The records of one kind, by their keys; those that an earlier version has left are taken over first."""
    name = OLDER_FOLDERS.get(kind, "")
    older = vault.private_folder / name
    if name and older.is_dir() and any(older.glob("*.json")):
        _take_over(vault, name)
    return _folder(vault, kind)


def save(vault: Vault, asked: Proposal) -> Proposal:
    """Write a record, and return it; durable when this returns."""
    records_of(vault, asked.kind).put(asked.key or asked.id, asked)
    return asked


def drop(vault: Vault, asked: Proposal) -> None:
    """Delete a record; its note then decides nothing."""
    records_of(vault, asked.kind).drop(asked.key or asked.id)


def proposals_of(vault: Vault, *kinds: ProposalKind) -> tuple[Proposal, ...]:
    """All questions of these kinds that are known here, the oldest first."""
    found: Iterator[Proposal] = (each for kind in kinds for each in records_of(vault, kind).all())
    return tuple(sorted(found, key=lambda each: (each.id, each.path)))


def _folder(vault: Vault, kind: ProposalKind) -> RecordFolder[Proposal]:
    return RecordFolder(vault.private_folder / ASKED / kind, parse_proposal)


def _take_over(vault: Vault, name: str) -> None:
    """Write the records of an earlier version anew, each before the old one goes, so that a crash loses none."""
    lock = vault.private_folder / "asked.lock"
    with process_lock(lock, vault.clock, _PATIENCE, "another vault-agent is deciding on an approval"):
        for file, asked in older_proposals(vault, name):
            if asked is not None:
                records = _folder(vault, asked.kind)
                key = asked.key or asked.id
                if records.get(key) is None:
                    records.put(key, asked)
            file.unlink(missing_ok=True)
