"""The commits of a vault, read from git: author, time, changed notes, and the run that they were made for.

One `git log` gives everything. The trailers at the end of a message name the actor; a commit without them is a person's
own. Anyone can write trailers, so they count only if this machine has a record that it made the commit; otherwise they
are stored as a claim. `difference` describes changes in a note's terms, `undo` takes them back.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone

from agent.errors import UserError
from agent.vault.file_changes import FileChange, Kind, parse_raw
from agent.vault.store import Vault

HUMAN = "human"

_FORMAT = "--format=" + "%x00".join(("%H", "%P", "%ad", "%an", "%B"))
_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*:(.*)")
_COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of the vault; `actor`, `run` and so on are its trailers, empty if there are none.

    `claims` is the actor named by trailers that do not count, because this machine has no record of the commit. The
    files of a merge are those that differ from its first parent.
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
    claims: str = ""

    @property
    def job(self) -> str:
        """The job that the commit was made for, empty if there is none."""
        return self.actor.removeprefix("job:") if self.actor.startswith("job:") else ""

    def is_of(self, run: str) -> bool:
        """True if the commit belongs to the run, or to a run that it delegated to (`run.call`)."""
        return self.run == run or self.run.startswith(f"{run}.")


def commits(
    vault: Vault,
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
    """The commits that touched the vault, newest first, and that match every given filter exactly.

    `path` is a note or a folder, relative to the vault; renames are followed back. `since` and `until` are inclusive. A
    vault without a commit gives an empty list; raises `UserError` for any other revision that does not exist.
    """
    place = vault.place
    if revision == "HEAD" and vault.head is None:
        return []
    start = resolve(vault, revision)
    unfiltered = all(value is None for value in (actor, run, job, path, since, until))
    found: Iterable[Commit] = _log(vault, start, limit if unfiltered and not place.prefix else None)
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


def resolve(vault: Vault, revision: str) -> str:
    """The full id of the commit with this name; raises `UserError` if there is none."""
    if not revision or revision.startswith("-") or any(ord(c) < 32 for c in revision):
        raise UserError("{revision!r} is not a commit", hint="vault-agent log lists the commits", revision=revision)
    asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"]
    found = vault.git.run(*asked, ok=(0, 1, 128)).decode("utf-8", "replace").strip()
    if not is_commit_id(found):
        raise UserError("there is no commit {revision}", hint="vault-agent log lists the commits", revision=revision)
    return found


def is_commit_id(text: str) -> bool:
    """True if the text is a full commit id."""
    return _COMMIT_ID.fullmatch(text) is not None


def lineage(vault: Vault) -> list[Commit]:
    """All commits in HEAD's history, children before parents, including those that did not change the vault."""
    return _log(vault, vault.head, None) if vault.head else []


def trailers_made_here(vault: Vault, ids: Collection[str]) -> dict[str, dict[str, str]]:
    """The trailers (names in lower case) of the commits that this machine made, by commit id."""
    named = sorted(ids)
    found = zip(named, vault.git.objects(named), strict=True) if named else ()
    messages = {
        id: each.data.partition(b"\n\n")[2].decode("utf-8", "replace") for id, each in found if each is not None
    }
    made = vault.provenance.made_here(list(messages)) if messages else set()
    return {id: dict(parse_message(message)[2]) for id, message in messages.items() if id in made}


def commit_of_call(vault: Vault, run: str, call: str) -> tuple[str, str] | None:
    """The id and subject of the commit that one tool call of a run made here; None if it made none."""
    command = ["log", "-z", "--format=%H%n%B", "--fixed-strings", "--all-match"]
    command += [f"--grep=Vault-Run: {run}", f"--grep=Vault-Call: {call}", "--end-of-options", "HEAD", "--"]
    out = vault.git.run(*command, ok=(0, 128)).decode("utf-8", "replace")
    for record in filter(None, out.split("\0")):
        commit, _, message = record.partition("\n")
        subject, _, trailers = parse_message(message)
        named = dict(trailers)
        is_this = (named.get("vault-run"), named.get("vault-call")) == (run, call)
        if is_this and vault.provenance.made_here([commit]):
            return commit, subject
    return None


def _log(vault: Vault, start: str, limit: int | None) -> list[Commit]:
    options = ["--root", "--diff-merges=first-parent", "--raw", "--no-abbrev", "-M", "--no-relative"]
    options += ["--no-show-signature", "--encoding=UTF-8", "--date=raw", "--topo-order", _FORMAT]
    options += [f"--max-count={limit}"] if limit is not None else []
    prefix = vault.place.prefix  # filtered here: filtered by git, the history would lose the commits in between
    out = vault.git.run("log", "-z", *options, "--end-of-options", start, "--")
    fields = out.decode("utf-8", "surrogateescape").split("\0")
    position, found = 0, list[Commit]()
    while position + 5 <= len(fields):
        head = fields[position : position + 5]
        files, position = parse_raw(fields, position + 5, prefix)
        found.append(_commit(head, files))
    signed = [commit.id for commit in found if _has_trailers(commit)]
    made = vault.provenance.made_here(signed) if signed else set()
    return [commit if commit.id in made or not _has_trailers(commit) else _claimed(commit) for commit in found]


def _has_trailers(commit: Commit) -> bool:
    return bool(commit.actor != HUMAN or commit.run or commit.tool or commit.session or commit.call or commit.undoes)


def _claimed(commit: Commit) -> Commit:
    """A commit whose trailers this machine cannot confirm: they are shown, and have no effect."""
    return replace(commit, actor=HUMAN, run="", tool="", session="", call="", undoes=(), claims=commit.actor)


def _commit(head: Sequence[str], files: tuple[FileChange, ...]) -> Commit:
    oid, parents, date, author, message = head
    subject, body, trailers = parse_message(message)
    named = {name: value for name, value in reversed(trailers)}
    undoes = tuple(value for name, value in trailers if name == "vault-undoes" and is_commit_id(value))
    actor = named.get("vault-actor", "") or HUMAN
    run, tool, session, call = (named.get(f"vault-{name}", "") for name in ("run", "tool", "session", "call"))
    known = tuple(parents.split())
    return Commit(oid, _when(date), author, actor, run, tool, session, call, undoes, subject, body, files, known)


def parse_message(message: str) -> tuple[str, str, list[tuple[str, str]]]:
    """A message as (subject, body, trailers with names in lower case).

    Trailers count only in a last paragraph that has nothing else, and never in the first paragraph.
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
    """The time in git's `--date=raw` form (seconds since 1970 and offset); 1970 if it is out of range."""
    seconds, _, offset = date.partition(" ")
    try:
        minutes = int(offset[-4:-2]) * 60 + int(offset[-2:])
        zone = timezone(timedelta(minutes=-minutes if offset.startswith("-") else minutes))
        return datetime.fromtimestamp(int(seconds), zone)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


class Trail:
    """The names that a note, or the notes of a folder, have had. Feed it the commits newest first."""

    def __init__(self, path: str) -> None:
        self.asked = path.strip("/")
        self.earlier: set[str] = set()

    def follow(self, commit: Commit) -> bool:
        """True if the commit touched the followed notes; also records their earlier names."""
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
