"""What happened to a vault, read from git: who changed which notes, when, on whose behalf.

One `git log` gives everything; who is meant by a commit is told by the trailers at the very end of its message, and a
commit without them is a person's own. What a change means in a note's terms is `difference`'s, taking it back `undo`'s.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum

from agent.errors import UserError
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.objects import Entry
from agent.vault.plumbing.repository import Place

HUMAN = "human"

_FORMAT = "--format=" + "%x00".join(("%H", "%P", "%ad", "%an", "%B"))
_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*:(.*)")
_COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NOT_THERE = "0"


class Kind(StrEnum):
    """What became of a file."""

    CREATED = "created"
    EDITED = "edited"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file in a commit; paths are relative to the vault, `old_path` is set for a rename.

    `before` and `after` are what git holds for it (None: nothing; an id of zeros: only the working tree has it).
    """

    kind: Kind
    path: str
    old_path: str | None = None
    before: Entry | None = None
    after: Entry | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """One change of the vault, made at `when`; `actor`, `run` and so on are its trailers, empty where there are none.

    The files of a merge are those that differ from its first parent.
    """

    id: str
    when: datetime
    author: str
    actor: str
    run: str
    tool: str
    session: str
    call: str
    undoes: tuple[str, ...]
    subject: str
    body: str
    files: tuple[FileChange, ...]
    parents: tuple[str, ...] = ()

    @property
    def job(self) -> str:
        """The job on whose behalf it was made, empty where there is none."""
        return self.actor.removeprefix("job:") if self.actor.startswith("job:") else ""

    def is_of(self, run: str) -> bool:
        """Whether it belongs to a run, or to one that this run has delegated to (`run.call`)."""
        return self.run == run or self.run.startswith(f"{run}.")


def commits(
    git: Git,
    place: Place,
    *,
    actor: str | None = None,
    run: str | None = None,
    job: str | None = None,
    path: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
    revision: str = "HEAD",
) -> list[Commit]:
    """The commits that touched the vault, newest first; every filter given must hold, and holds exactly.

    `path` is a note or a folder, relative to the vault; renames are followed back. `since` and `until` are inclusive.
    A vault without a commit has none; raises `UserError` for any other revision that is not there.
    """
    if revision == "HEAD" and git.objects(["HEAD"])[0] is None:
        return []
    start = resolve(git, revision)
    unfiltered = all(value is None for value in (actor, run, job, path, since, until))
    found: Iterable[Commit] = _log(git, place, start, limit if unfiltered and not place.prefix else None)
    trail = Trail(path) if path else None
    chosen = [
        commit
        for commit in found
        if (commit.files or not place.prefix)
        and (trail is None or trail.follow(commit))
        and (actor is None or commit.actor == actor)
        and (run is None or commit.is_of(run))
        and (job is None or commit.actor == f"job:{job}")
        and (since is None or commit.when >= since)
        and (until is None or commit.when <= until)
    ]
    return chosen if limit is None else chosen[:limit]


def resolve(git: Git, revision: str) -> str:
    """The full id of the commit that a person means; raises `UserError` when there is none."""
    if not revision or revision.startswith("-") or any(ord(c) < 32 for c in revision):
        raise UserError(f"{revision!r} is not a commit", hint="vault-agent log lists the commits")
    asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"]
    found = git.run(*asked, ok=(0, 1, 128)).decode("utf-8", "replace").strip()
    if not is_commit_id(found):
        raise UserError(f"there is no commit {revision}", hint="vault-agent log lists the commits")
    return found


def is_commit_id(text: str) -> bool:
    """Whether the text is a full commit id."""
    return _COMMIT_ID.fullmatch(text) is not None


def lineage(git: Git, place: Place) -> list[Commit]:
    """Every commit that HEAD is made of, children before parents, those that left the vault alone included."""
    head = git.objects(["HEAD"])[0]
    return list(_log(git, place, head.oid, None)) if head else []


def _log(git: Git, place: Place, start: str, limit: int | None) -> Iterator[Commit]:
    options = ["--root", "--diff-merges=first-parent", "--raw", "--no-abbrev", "-M", "--no-relative"]
    options += ["--no-show-signature", "--encoding=UTF-8", "--date=raw", "--topo-order", _FORMAT]
    options += [f"--max-count={limit}"] if limit is not None else []
    prefix = place.prefix  # filtered here and not by git, whose history would lose the commits in between
    out = git.run("log", "-z", *options, "--end-of-options", start, "--")
    fields = out.decode("utf-8", "surrogateescape").split("\0")
    position = 0
    while position + 5 <= len(fields):
        head = fields[position : position + 5]
        files, position = parse_raw(fields, position + 5, prefix)
        yield _commit(head, files)


def parse_raw(fields: Sequence[str], position: int, prefix: str) -> tuple[tuple[FileChange, ...], int]:
    """The records of `--raw -z` from `position` on, and where they end; files outside the vault are left out."""
    files: list[FileChange] = []
    while position < len(fields) and fields[position].lstrip("\n").startswith(":"):
        old_mode, mode, old_id, new_id, status = fields[position].lstrip("\n")[1:].split(" ")
        count = 2 if status[0] in "RC" else 1
        paths = fields[position + 1 : position + 1 + count]
        names = [path.removeprefix(prefix) if path.startswith(prefix) else None for path in paths]
        position += 1 + count
        before = Entry(old_mode, old_id) if old_mode.strip(_NOT_THERE) else None
        after = Entry(mode, new_id) if mode.strip(_NOT_THERE) else None
        if status[0] != "U":
            files += _change(names[0], names[-1], before, after)
    return tuple(files), position


def _change(old: str | None, new: str | None, before: Entry | None, after: Entry | None) -> Iterator[FileChange]:
    """One record as a change inside the vault: what is moved in counts as created, what is moved out as deleted."""
    if old is not None and new is not None and old != new:
        yield FileChange(Kind.RENAMED, new, old, before, after)
    elif new is not None:
        inside = before if old is not None else None
        kind = Kind.CREATED if inside is None else Kind.EDITED if after is not None else Kind.DELETED
        yield FileChange(kind, new, None, inside, after)
    elif old is not None:
        yield FileChange(Kind.DELETED, old, None, before, None)


def _commit(head: Sequence[str], files: tuple[FileChange, ...]) -> Commit:
    oid, parents, date, author, message = head
    subject, body, trailers = read_message(message)
    said = {name: value for name, value in reversed(trailers)}
    undoes = tuple(value for name, value in trailers if name == "vault-undoes" and is_commit_id(value))
    actor = said.get("vault-actor", "") or HUMAN
    run, tool, session, call = (said.get(f"vault-{name}", "") for name in ("run", "tool", "session", "call"))
    known = tuple(parents.split())
    return Commit(oid, _when(date), author, actor, run, tool, session, call, undoes, subject, body, files, known)


def read_message(message: str) -> tuple[str, str, list[tuple[str, str]]]:
    """A message as (subject, body, trailers with names in lower case).

    Trailers count only in a last paragraph that consists of nothing else, and never in the first one.
    """
    paragraphs = [part for part in re.split(r"\n(?:[ \t]*\n)+", message.strip("\n")) if part.strip()]
    if not paragraphs:
        return "", "", []
    trailers = _trailers(paragraphs[-1]) if len(paragraphs) > 1 else []
    body = paragraphs[1:-1] if trailers else paragraphs[1:]
    return " ".join(paragraphs[0].split()), "\n\n".join(body), trailers


def _trailers(paragraph: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for line in paragraph.split("\n"):
        match = _TRAILER.fullmatch(line)
        if match:
            found.append((match[1].lower(), match[2].strip()))
        elif line[:1] in {" ", "\t"} and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif not line.startswith("(cherry picked from commit "):
            return []
    return found


def _when(date: str) -> datetime:
    """A time as `--date=raw` has it: seconds since 1970 and the offset; times that no calendar has become 1970."""
    seconds, _, offset = date.partition(" ")
    try:
        minutes = int(offset[-4:-2]) * 60 + int(offset[-2:])
        zone = timezone(timedelta(minutes=-minutes if offset.startswith("-") else minutes))
        return datetime.fromtimestamp(int(seconds), zone)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


class Trail:
    """The names that a note, or the notes of a folder, had: told commit after commit, newest first."""

    def __init__(self, path: str) -> None:
        self.asked = path.strip("/")
        self.earlier: set[str] = set()

    def follow(self, commit: Commit) -> bool:
        """Whether the commit touched what is followed; learns the names before it."""
        touched = False
        for change in commit.files:
            names = [change.path, *([change.old_path] if change.old_path else [])]
            if not any(self._is_meant(name) for name in names):
                continue
            touched = True
            if change.kind is Kind.CREATED:
                self.earlier.discard(change.path)
            elif change.old_path and self._is_meant(change.path):
                self.earlier.discard(change.path)
                self.earlier.add(change.old_path)
        return touched

    def _is_meant(self, path: str) -> bool:
        return path == self.asked or path.startswith(self.asked + "/") or path in self.earlier
