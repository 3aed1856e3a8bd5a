"""What is held back now: the last commit has it, and the disk has not. Apart from what changes it."""

from collections.abc import Collection, Sequence
from hashlib import sha256

from agent.dataclass import dataclass
from agent.escape import escape_line
from agent.git.objects import TreeEntry
from agent.vault.held_back import HeldFile, HoldReason, HoldState, load_held_back
from agent.vault.history.line_diff import line_diff
from agent.vault.store import Vault

NAMED = 500
"""The most paths that are named to git."""


def held_files(vault: Vault) -> tuple[HeldFile, ...]:
    """What the last commit has and the disk has not, by path, without what is about an earlier version."""
    held = load_held_back(vault.place.gitdir)
    if not held.files:
        return ()
    now = entries_in_head(vault, {each.path for each in held.files.values()})
    current = (each for _, each in sorted(held.files.items()) if each.is_held)
    return tuple(each for each in current if oid_of(now.get(each.path)) == each.oid)


def oid_of(entry: TreeEntry | None) -> str:
    """The blob of an entry; empty without one."""
    return entry.oid if entry is not None else ""


def entries_in_head(vault: Vault, paths: Collection[str]) -> dict[str, TreeEntry]:
    """The entry of each of these paths (of the repository) in the last commit."""
    head, found = vault.head, dict[str, TreeEntry]()
    if head is None or not paths:
        return found
    only = sorted(paths) if len(paths) <= NAMED else []
    for row in vault.git.fields("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", head, *only):
        meta, _, path = row.partition("\t")
        if path in paths:
            mode, _, oid = meta.split(" ")
            found[path] = TreeEntry(mode, oid)
    return found


_LISTED = 60
_LONGEST_DIFF = 20_000
_READ = 200_000
"""Bytes up to which a file is shown with its lines."""


@dataclass(frozen=True, slots=True)
class HeldGroup:
    """The files that came together and wait for an answer."""

    files: tuple[HeldFile, ...]

    @property
    def subject(self) -> str:
        """Its name for people: the first path, and the number of the others."""
        first, more = escape_line(self.files[0].path), len(self.files) - 1
        return f"{first} (+{more})" if more else first

    @property
    def content(self) -> str:
        """A hash that is another one as soon as another version, or another file, is asked about."""
        rows = "".join(f"{each.path}\0{each.oid}\0" for each in self.files)
        return sha256(rows.encode("utf-8", "surrogateescape")).hexdigest()


def held_groups(vault: Vault) -> list[HeldGroup]:
    """The files that are held back and were not answered yet, by the arrival with which they came."""
    found: dict[str, list[HeldFile]] = {}
    for each in held_files(vault):
        if each.reason is HoldReason.ACTS and each.state is HoldState.WAITS:
            found.setdefault(each.arrival, []).append(each)
    return [HeldGroup(tuple(files)) for files in found.values()]


def source_of(vault: Vault, files: Sequence[HeldFile]) -> str:
    """Where the first of them came from, in words; empty if it is not known."""
    database = vault.provenance.database
    arrivals = [each for file in files[:1] for each in database.at(file.path) if (each.after or "") == file.oid]
    return next((each.source for each in arrivals), "")


def listed(vault: Vault, files: Sequence[HeldFile]) -> str:
    """The paths of the files, one a line, each with its size."""
    sizes = vault.git.sizes([each.oid for each in files if each.oid])
    rows = [f"{escape_line(each.path)}  {sizes.get(each.oid, 0):,} B" for each in files[:_LISTED]]
    more = len(files) - _LISTED
    return "\n".join([*rows, *([f"(+{more})"] if more > 0 else [])])


def diff_of(vault: Vault, files: Sequence[HeldFile]) -> str:
    """What would change on disk, as far as it is text and short enough to be read."""
    report = list[str]()
    size = 0
    for each in files:
        blobs = vault.git.small_blobs(filter(None, (each.before, each.oid)), _READ)
        after = blobs.get(each.oid)
        if (each.oid and after is None) or b"\0" in (after or b""):
            continue
        path = escape_line(each.path)
        lines = line_diff(blobs.get(each.before), after, context=2)
        part = "\n".join([f"--- {path}", *lines[2:]])
        report.append(part[: _LONGEST_DIFF - size])
        size += len(part)
        if size >= _LONGEST_DIFF:
            report.append("…")
            break
    return "\n".join(report)
