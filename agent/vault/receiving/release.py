"""Brings what was held back to the disk after a yes, or keeps it away after a no, and drops what is over.

A yes is durable before the first file is written: what a crash leaves undone is done at the next look.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from agent.errors import BadPath, UserError
from agent.git.objects import TreeEntry
from agent.vault.change import Arrival, Create, Delete, Edit, Outcome, Request, Stamp
from agent.vault.held_back import (
    HeldFile,
    HoldReason,
    HoldState,
    add_held_back,
    load_held_back,
    save_held_back,
)
from agent.vault.receiving.choice import is_own_version
from agent.vault.receiving.held_now import NAMED, entries_in_head, held_files, oid_of
from agent.vault.refusal import in_plain_words
from agent.vault.store import Vault
from agent.vault.transaction import Order
from agent.vault.write.recover import recover
from agent.vault.write.take_in import TAKE_IN


def release(vault: Vault, files: Collection[HeldFile]) -> Outcome:
    """Bring these files to the disk, on top of what a person has there; raises `UserError` for one that cannot be."""
    for each in files:
        _check(vault, each)
    with in_plain_words(vault.place), vault.writer.exclusive():
        recover(vault.writer)
        add_held_back(vault.place.gitdir, [replace(each, state=HoldState.ACCEPTED) for each in files])
        return _bring(vault)


def release_own(vault: Vault) -> None:
    """Bring to the disk what has turned out to be the person's own: they have answered since that only they write where
    it came from, or have approved the key with which it is signed."""
    waiting = [each for each in held_files(vault) if (each.reason, each.state) == (HoldReason.ACTS, HoldState.WAITS)]
    own = [each for each in waiting if is_own_version(vault, each.path, each.oid)]
    if own:
        release(vault, own)


def refuse(vault: Vault, files: Collection[HeldFile]) -> None:
    """Keep these versions away from the disk for good, without asking again."""
    with vault.writer.exclusive():
        add_held_back(vault.place.gitdir, [replace(each, state=HoldState.REFUSED) for each in files])


def settle_held(vault: Vault) -> None:
    """Finish what a crash has interrupted, and drop what is about versions that the last commit has no more."""
    if not load_held_back(vault.place.gitdir).files:
        return
    with in_plain_words(vault.place), vault.writer.exclusive():
        recover(vault.writer)
        if not vault.writer.waiting_reason():
            _bring(vault)


def _check(vault: Vault, file: HeldFile) -> None:
    if file.reason in {HoldReason.NAME, HoldReason.LINK}:
        raise UserError(
            "{path} cannot be here: it is a link, or its name is none that a note can have",
            hint="rename or remove it where it came from",
            path=ascii(file.path)[1:-1],
        )
    if file.reason is HoldReason.PRIVATE and not file.before and vault.files.read(file.path) is not None:
        raise UserError(
            "{path} is kept out of git here, and others have a file of this name; yours stays private",
            hint="move yours away first, then again",
            path=file.path,
        )


def _bring(vault: Vault) -> Outcome:
    """Write what is accepted, mark what is held back, and keep only what is still so of the record; under the lock."""
    gitdir = vault.place.gitdir
    held, head = load_held_back(gitdir).files, vault.head or ""
    now = entries_in_head(vault, {path for path, _ in held})
    marked = _marked(vault, now)
    current = [each for each in map(lambda file: _renewed(file, now, marked, head), held.values()) if each is not None]
    save_held_back(gitdir, current)
    over = [each for each in current if not each.is_held or _is_there(vault, each)]
    lost = [each for each in current if each.oid and each not in over and each.path not in marked]
    outcome = Outcome()
    if over or lost:
        entries = {each.path.encode("utf-8", "surrogateescape"): now.get(each.path) for each in (*over, *lost)}
        save_held_back(gitdir, [replace(each, state=HoldState.ACCEPTED) if each in over else each for each in current])
        order = Order(
            vault.clock.new_id(),
            tuple(request for each in over if (request := _request(vault, each)) is not None),
            "what was held back",
            Stamp("agent", tool=TAKE_IN),
            confirmed=True,
            arrival=Arrival(head, head, entries),
        )
        outcome = vault.writer.perform(order)
        save_held_back(gitdir, [each for each in current if each not in over])
    return outcome


def _renewed(file: HeldFile, now: Mapping[str, TreeEntry], marked: Collection[str], head: str) -> HeldFile | None:
    """The record of a file as it is now: of another version if a git of the person's has brought one, and left it away
    as the former one; None if there is nothing to hold back."""
    entry = now.get(file.path)
    if oid_of(entry) == file.oid:
        return file
    if entry is None or file.path not in marked or not file.is_held:
        return None
    return replace(file, oid=entry.oid, mode=entry.mode, arrival=head, state=HoldState.WAITS)


def _request(vault: Vault, file: HeldFile) -> Request | None:
    here = vault.files.read(file.path)
    if not file.oid:
        return Delete(file.path, here) if here is not None else None
    blobs = vault.read_blobs([file.oid, *([file.before] if file.before else [])])
    data, before = blobs[0] or b"", (blobs[1:] or [None])[0] or b""
    if here is None:
        return Create(file.path, data)
    return Edit(file.path, before, data) if here != data else None


def _is_there(vault: Vault, file: HeldFile) -> bool:
    """True if the person has brought this version to the disk themselves."""
    try:
        here = vault.files.read(file.path)
    except (BadPath, OSError):
        return False
    return ("" if here is None else vault.content_id(here)) == file.oid


def _marked(vault: Vault, paths: Collection[str]) -> frozenset[str]:
    """Those of these paths that the index marks as left out of the working tree."""
    only = ["--", *sorted(paths)] if len(paths) <= NAMED else []
    rows = vault.git.fields("ls-files", "-t", "-z", *only) if paths else []
    return frozenset(row[2:] for row in rows if row[:2] == "S " and row[2:] in paths)
