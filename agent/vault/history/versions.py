"""Earlier versions of notes, and the commits that changed them, without reading the whole history."""

from collections.abc import Callable, Collection, Iterable
from datetime import date, datetime, time

from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.git.identities import AGENT, person_addresses
from agent.git.repository import MARKER
from agent.vault.change import CLIENT
from agent.vault.history.commit_index import HUMAN, parse_message
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note

_BEGIN = "\x01"
_TOGETHER = 500


@dataclass(frozen=True, slots=True)
class Version:
    """A file in a commit: its blob id and its bytes."""

    blob: str
    data: bytes


def versions(vault: Vault, asked: Iterable[tuple[str, str]]) -> list[Version | None]:
    """The files at (revision, path), read by one process; None if a revision or its file is missing."""
    names = [f"{revision}:{vault.place.prefix}{path}" for revision, path in asked]
    found = vault.git.objects(names) if names else []
    return [Version(each.oid, each.data) if each is not None and each.kind == "blob" else None for each in found]


def commit_of_begin(vault: Vault) -> str:
    """The commit with which the folder became a vault; empty without one."""
    command = ["log", "--diff-filter=A", "--format=%H", "HEAD", "--", vault.place.prefix + MARKER]
    return (vault.git.run(*command, ok=(0, 128)).decode().split() or [""])[-1]


def first_version(vault: Vault, path: str, begin: str) -> bytes | None:
    """The file in the commit with which the folder became a vault (`commit_of_begin`); None if it was not there."""
    found = versions(vault, [(begin, path)])[0] if begin else None
    return found.data if found is not None else None


def committed_blobs(vault: Vault, paths: Iterable[str]) -> dict[str, str]:
    """The blob id of each path in the last commit; paths that it does not have are left out."""
    prefix = vault.place.prefix
    command = ["ls-tree", "-z", "--full-tree", "--format=%(objectname) %(path)", "HEAD", "--"]
    rows = vault.git.fields(*command, *(prefix + path for path in paths), ok=(0, 128))
    return {path.removeprefix(prefix): blob for blob, _, path in (row.partition(" ") for row in rows) if path}


def paths_with(vault: Vault, wanted: Callable[[str, bytes], bool], *revisions: str) -> set[str]:
    """The paths of notes of which the history has a version that is wanted, each version read once.

    `revisions` as for `git log`; the last commit if there are none.
    """
    command = ["log", "--raw", "--no-abbrev", "--no-renames", "-m", "--root", "--format=", "-z", *revisions]
    fields = iter(vault.git.fields(*command, *vault.place.pathspec, ok=(0, 128)))
    found: dict[str, set[str]] = {}
    for row in fields:
        path = next(fields, "")
        blob = row.split(" ")[3] if row.lstrip("\n").startswith(":") else ""
        if blob.strip("0") and is_note(path):
            found.setdefault(blob, set()).add(path.removeprefix(vault.place.prefix))
    blobs, named = sorted(found), set[str]()
    for start in range(0, len(blobs), _TOGETHER):
        some = blobs[start : start + _TOGETHER]
        for blob, data in zip(some, vault.read_blobs(some), strict=True):
            named |= {path for path in found[blob] if data is not None and wanted(path, data)}
    return set(vault.private_notes.left_of(named))


def commits_of_path(vault: Vault, path: str, revision: str = "HEAD", *, limit: int) -> list[str]:
    """The newest commits in the revision's history that changed the path, including those that a merge discarded."""
    command = ["rev-list", "--full-history", f"--max-count={limit}", "--end-of-options", revision, "--"]
    return vault.git.run(*command, vault.place.prefix + path, ok=(0, 128)).decode().split()


def last_commit(vault: Vault, path: str) -> str | None:
    """The commit that gave the note its present content in HEAD; None if the note is in no commit."""
    command = ["log", "-1", "--format=%H", "HEAD", "--", vault.place.prefix + path]
    return vault.git.run(*command, ok=(0, 128)).decode().strip() or None


def edited_on(vault: Vault, folder: str, day: date) -> list[str]:
    """The notes of a folder (ending in `/`) that commits of a day, in local time, changed but did not create."""
    now = vault.clock.now()
    begin, end = (in_clock_zone(datetime.combine(day, at), now) for at in (time(), time(23, 59, 59)))
    times = [f"--since={begin.isoformat()}", f"--until={end.isoformat()}"]
    options = ["-z", "--name-only", "--no-renames", "--diff-filter=M", "--format="]
    names = vault.git.fields("log", *times, *options, "HEAD", "--", vault.place.prefix + folder, ok=(0, 128))
    return vault.private_notes.left_of(vault.place.in_vault(dict.fromkeys(names)))


def changed_between(vault: Vault, before: str, after: str) -> list[str]:
    """The paths of the vault that differ between two commits; raises `GitFailed` if one of them is missing."""
    command = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", before, after]
    return vault.place.in_vault(vault.git.fields(*command))


def last_changed_by_person(vault: Vault, paths: Collection[str], tool_of_clients: str) -> set[str]:
    """The paths whose last commit was made for the vault's person: not by a tool, but with `tool_of_clients` also
    through one of their programs."""
    if not paths:
        return set()
    prefix = vault.place.prefix
    command = ["log", "-z", f"--format={_BEGIN}%ae%n%B", "--name-only", "--no-renames", "--encoding=UTF-8", "HEAD"]
    out = vault.git.run(*command, "--", *(prefix + path for path in sorted(paths)), drivers_off=True)
    authors = {*person_addresses(vault.git), AGENT.email}
    left, found = set(paths), set[str]()
    for record in out.decode("utf-8", "surrogateescape").split(_BEGIN)[1:]:
        message, *names = record.split("\0")
        author, text = message.split("\n", 1)
        trailers = dict(parse_message(text)[2])
        actor = trailers.get("vault-actor", "") or HUMAN
        if actor.startswith(CLIENT) and trailers.get("vault-tool") == tool_of_clients:
            actor = HUMAN
        last = left & {name.lstrip("\n").removeprefix(prefix) for name in names}
        left -= last
        if actor == HUMAN and author in authors:
            found |= last
    return found
