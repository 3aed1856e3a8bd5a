"""Takes a finished commit in: its files are brought to disk by the write protocol, then the branch moves to it.

What a person has on disk and not in a commit is merged into what arrives and stays uncommitted, as theirs; a file that
they have changed is not deleted.
"""

from collections.abc import Callable, Collection, Iterator, Mapping

from agent.errors import BadPath, Conflict, NoteExists, NoteGone
from agent.git.objects import TreeEntry
from agent.git.tree_edit import changed_pairs
from agent.vault.change import Arrival, Create, Delete, Edit, Outcome, Request, Stamp
from agent.vault.held_back import HeldBack, load_held_back
from agent.vault.transaction import Order
from agent.vault.write.writer import Writer

TAKE_IN = "sync"
"""The `tool` of the program's commits that join two histories."""
_TRIES = 4


def take_in(
    writer: Writer,
    commit: str,
    seen: str,
    subject: str,
    *,
    is_own: bool = False,
    stay: Collection[str] = (),
    progress: Callable[[int, int], object] = lambda done, of: None,
) -> Outcome:
    """Move the vault from HEAD's commit `seen` to `commit`, under the writer lock; `is_own` and `progress` as in
    `Arrival`.

    The files of the paths `stay` stay on disk, even if the commit has them no more.

    Raises `HeadMoved` if HEAD is elsewhere, `BadPath` for a path that cannot be here, `LockHeld` if git's index is
    locked, and `Retryable` while a file is saved again and again; nothing has moved then.
    """
    pairs = changed_pairs(writer.git, seen, commit)
    entries = {path: entry for path, (_, entry) in pairs.items()}
    before = {path: entry for path, (entry, _) in pairs.items() if entry is not None}
    arrival = Arrival(commit, seen, entries, is_own, progress)
    for attempt in range(_TRIES):
        requests = tuple(each for each in _requests(writer, entries, before) if each.path not in stay)
        token = writer.clock.new_id()
        try:
            order = Order(token, requests, subject, Stamp("agent", tool=TAKE_IN), confirmed=True, arrival=arrival)
            return writer.perform(order)
        except (NoteExists, NoteGone, Conflict):
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


def _requests(
    writer: Writer, entries: Mapping[bytes, TreeEntry | None], before: Mapping[bytes, TreeEntry]
) -> Iterator[Request]:
    held = load_held_back(writer.place.gitdir)
    entries = {
        path: entry for path, entry in entries.items() if not held.has(path, entry.oid if entry is not None else "")
    }
    there = {path: _on_disk(held, path, entry) for path, entry in before.items() if path in entries}
    ids = [*(entry.oid for entry in entries.values() if entry is not None), *filter(None, there.values())]
    found = writer.git.objects(ids) if ids else []
    blobs = {oid: each.data for oid, each in zip(ids, found, strict=True) if each is not None}
    for raw, entry in entries.items():
        path = raw.decode("utf-8", "surrogateescape").removeprefix(writer.place.prefix)
        base = blobs.get(there.get(raw, ""))
        here = _here(writer, path, entry)
        if entry is None:
            if here is not None and here == base:
                yield Delete(path, base)
        elif here is None:
            yield Create(path, blobs[entry.oid])
        elif here != blobs[entry.oid]:
            yield Edit(path, base or b"", blobs[entry.oid])


def _here(writer: Writer, path: str, entry: TreeEntry | None) -> bytes | None:
    """The file on disk. One that goes, and cannot be read, such as a link, is left as it is."""
    try:
        return writer.files.read(path)
    except BadPath:
        if entry is None:
            return None
        raise


def _on_disk(held: HeldBack, path: bytes, entry: TreeEntry) -> str:
    """The blob of a file's version on disk before an arrival: the last commit's, or the one that is kept instead."""
    held_mode = held.get(path.decode("utf-8", "surrogateescape"), entry.oid)
    return entry.oid if held_mode is None else held_mode.before
