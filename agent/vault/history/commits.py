"""The commits of a vault, read from git: author, time, changed notes, and the run that they were made for.

One `git log` reads them; `find` chooses them without a walk over the whole history. The trailers at the end of a
message name the actor; a commit without them is a person's own. Anyone can write trailers, so they count only if this
machine has a record that it made the commit; otherwise they are stored as a claim. `difference` describes changes in a
note's terms, `undo` takes them back.

The changes of files that may be told to whoever does not see the private notes.
"""

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TypeVar

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.git.identities import AGENT, RAW, git_time
from agent.markdown.keep_out import keeps_agent_out
from agent.vault.change import FileChange, Kind, ToolWork, parse_raw, parse_work
from agent.vault.history.commit_index import HUMAN, has_index, id_of, is_commit_id, load_index, parse_message
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note


def public_changes(vault: Vault, changes: Iterable[FileChange]) -> dict[FileChange, FileChange]:
    """What may be told of each change; a note that came out of a private one, or became one, was made or deleted.

    A note that is not there any more counts by the headers that it had.
    """
    listed = list(dict.fromkeys(changes))
    private = _private_paths(vault, listed)
    found: dict[FileChange, FileChange] = {}
    for each in listed:
        if each.path not in private:
            is_out = each.old_path is not None and each.old_path in private
            found[each] = FileChange(Kind.CREATED, each.path, None, None, each.after) if is_out else each
        elif each.old_path is not None and each.old_path not in private:
            found[each] = FileChange(Kind.DELETED, each.old_path, None, each.before, None)
    return found


def _private_paths(vault: Vault, changes: list[FileChange]) -> set[str]:
    names = {path for each in changes for path in (each.path, each.old_path) if path is not None}
    private = {path for path in names if vault.private_notes.have(path)}
    root = vault.place.root
    may_be = vault.private_notes.may_be
    gone = {
        path for path in names - private if is_note(path) and may_be(path) and not os.path.lexists(f"{root}/{path}")
    }
    versions = [
        (path, entry.oid)
        for each in changes
        for path, entry in ((each.path, each.after), (each.old_path or each.path, each.before))
        if path in gone and entry is not None and entry.oid.strip("0")
    ]
    ids = list(dict.fromkeys(oid for _, oid in versions))
    never = {
        oid for oid, data in zip(ids, vault.read_blobs(ids), strict=True) if data is not None and keeps_agent_out(data)
    }
    return private | {path for path, oid in versions if oid in never}


WORK = "vault-call"
"""The trailer with what calls of tools have changed, as `parse_message` names it."""
_WIDER = 4
"""How many times more commits are read each time that too few of them are shown."""
_NAMED = 3
"""Notes that the subject of a commit names in which private ones stood, too."""
_FORMAT = "--format=" + "%x00".join(("%H", "%P", "%ad", "%an", "%B"))


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of the vault; `actor`, `run` and so on are its trailers, empty if there are none.

    `work` is what calls of tools have changed, each in one note, where the commit has more; else its one call.
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
    work: tuple[ToolWork, ...]
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

    @property
    def is_by_command(self) -> bool:
        """True for what a person did with a command of the program, which has signed it."""
        return self.actor == HUMAN and self.author == AGENT.name

    def is_of(self, run: str) -> bool:
        """True if the commit belongs to the run, or to a run that it delegated to (`run.call`)."""
        return self.run == run or self.run.startswith(f"{run}.")


def work_of(commit: Commit) -> Commit:
    """The commit with the files only that calls of tools have changed."""
    worked = {each.path for each in commit.work}
    return replace(commit, files=tuple(each for each in commit.files if worked & {"", each.path, each.old_path}))


def resolve(vault: Vault, revision: str) -> str:
    """The full id of the commit with this name; raises `UserError` if there is none."""
    if not revision or revision.startswith("-") or any(ord(c) < 32 for c in revision):
        raise UserError("{revision!r} is not a commit", hint="vault-agent log lists the commits", revision=revision)
    asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"]
    found = vault.git.run(*asked, ok=(0, 1, 128)).decode("utf-8", "replace").strip()
    if not is_commit_id(found):
        raise UserError("there is no commit {revision}", hint="vault-agent log lists the commits", revision=revision)
    return found


def trailers_made_here(vault: Vault, ids: Collection[str]) -> dict[str, dict[str, str]]:
    """The trailers (names in lower case) of the commits that this machine made, by commit id."""
    found = claimed_trailers(vault, ids)
    made = vault.provenance.made_here(list(found)) if found else set()
    return {id: trailers for id, trailers in found.items() if id in made}


def claimed_trailers(vault: Vault, ids: Collection[str]) -> dict[str, dict[str, str]]:
    """The trailers (names in lower case) of commits, whoever made them, by commit id. Anyone can write trailers."""
    named = sorted(ids)
    found = zip(named, vault.git.objects(named), strict=True) if named else ()
    messages = {
        id: each.data.partition(b"\n\n")[2].decode("utf-8", "replace") for id, each in found if each is not None
    }
    return {id: _by_name(parse_message(message)[2]) for id, message in messages.items()}


def _by_name(trailers: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The trailers by name; what calls have changed has a line for each."""
    return {**dict(trailers), WORK: "\n".join(value for name, value in trailers if name == WORK)}


def tool_of(trailers: Mapping[str, str], path: str) -> str:
    """The tool with which a commit with these trailers has changed a note."""
    work = map(parse_work, trailers.get(WORK, "").split("\n"))
    return next((each.tool for each in work if each.path == path and each.tool), trailers.get("vault-tool", ""))


def newest(vault: Vault, start: str, limit: int | None) -> list[Commit]:
    """The commits in the history of `start` (a full id), children before parents, at most `limit`."""
    if limit is None:
        return without_private(vault, _read(vault, ["--topo-order", "--end-of-options", start]))
    return filled(limit, lambda count: _newest(vault, start, count), lambda found: without_private(vault, found))


T = TypeVar("T")


def filled(
    limit: int, first: Callable[[int], Sequence[T]], build: Callable[[Sequence[T]], list[Commit]]
) -> list[Commit]:
    """The first `limit` commits that are shown, of those that `first` gives for a count: where some of them changed
    private notes only, it is asked for more."""
    count = limit
    while True:
        found = first(count)
        left = build(found)
        if len(left) >= limit or len(found) < count:
            return left[:limit]
        count *= _WIDER


def _newest(vault: Vault, start: str, count: int) -> list[Commit]:
    found = _read(vault, [f"--max-count={count}", "--end-of-options", start])
    if all(later.parents == (earlier.id,) for later, earlier in pairwise(found)):
        return found  # one line of commits has one order; where lines meet, the whole history is needed to sort it
    if start == vault.head and has_index(vault):
        return _named(vault, [id_of(row) for row in load_index(vault).first(count)])
    return _read(vault, ["--topo-order", f"--max-count={count}", "--end-of-options", start])


def read_commits(vault: Vault, ids: Sequence[str]) -> list[Commit]:
    """These commits (full ids), in this order."""
    return without_private(vault, _named(vault, ids))


def _named(vault: Vault, ids: Sequence[str]) -> list[Commit]:
    if not ids:
        return []
    return _read(vault, ["--no-walk=unsorted", "--stdin"], "".join(f"{id}\n" for id in ids).encode())


def _read(vault: Vault, revisions: Sequence[str], stdin: bytes = b"") -> list[Commit]:
    options = ["--root", "--diff-merges=first-parent", "--raw", "--no-abbrev", "-M", "--no-relative"]
    options += ["--no-show-signature", "--encoding=UTF-8", RAW, _FORMAT]
    prefix = vault.place.prefix  # filtered here: filtered by git, the history would lose the commits in between
    end = () if stdin else ("--",)
    out = vault.git.run("log", "-z", *options, *revisions, *end, stdin=stdin)
    fields = out.decode("utf-8", "surrogateescape").split("\0")
    position, found = 0, list[Commit]()
    while position + 5 <= len(fields):
        head = fields[position : position + 5]
        files, position = parse_raw(fields, position + 5, prefix)
        found.append(_commit(head, files))
    signed = [commit.id for commit in found if _has_trailers(commit)]
    made = vault.provenance.made_here(signed) if signed else set()
    return [commit if commit.id in made or not _has_trailers(commit) else _claimed(commit) for commit in found]


def without_private(vault: Vault, found: Sequence[Commit]) -> list[Commit]:
    """The commits without the changes of private notes, and without those that changed nothing else; of the others the
    message names none."""
    if vault.whole.private_notes is vault.private_notes:
        return list(found)
    public = public_changes(vault, [change for each in found for change in each.files])
    return [left for each in found if (left := _with_changes(each, public)) is not None]


def _with_changes(commit: Commit, public: Mapping[FileChange, FileChange]) -> Commit | None:
    files = tuple(public[each] for each in commit.files if each in public)
    if files == commit.files:
        return commit
    if not files:
        return None
    kind, colon, _ = commit.subject.partition(": ")
    named = ", ".join(PurePosixPath(each.path).stem for each in files[:_NAMED])
    return replace(commit, subject=f"{kind}{colon}{named}" if colon else named, body="", files=files)


def _has_trailers(commit: Commit) -> bool:
    return bool(commit.actor != HUMAN or commit.run or commit.tool or commit.session or commit.work or commit.undoes)


def _claimed(commit: Commit) -> Commit:
    """A commit whose trailers this machine cannot confirm: they are shown, and have no effect."""
    return replace(commit, actor=HUMAN, run="", tool="", session="", work=(), undoes=(), claims=commit.actor)


def _commit(head: Sequence[str], files: tuple[FileChange, ...]) -> Commit:
    oid, parents, date, author, message = head
    subject, body, trailers = parse_message(message)
    named = {name: value for name, value in reversed(trailers)}
    undoes = tuple(value for name, value in trailers if name == "vault-undoes" and is_commit_id(value))
    actor = named.get("vault-actor", "") or HUMAN
    run, tool, session = (named.get(f"vault-{name}", "") for name in ("run", "tool", "session"))
    work, known = tuple(parse_work(value) for name, value in trailers if name == WORK), tuple(parents.split())
    return Commit(oid, git_time(date), author, actor, run, tool, session, work, undoes, subject, body, files, known)


@dataclass(frozen=True, slots=True)
class Pins:
    """The commit of HEAD, and the notes that differ from it."""

    head: str | None = None
    edited: frozenset[str] = frozenset()

    def commit(self, path: str) -> str | None:
        """The commit that has the note in its present form; None if there is none."""
        return None if path in self.edited else self.head


def pins(vault: Vault, paths: Collection[str]) -> Pins:
    """The pins of these notes; no other note is read, and nothing if there are none."""
    if not paths:
        return Pins()
    edited = frozenset(item.path for item in vault.changed_files(paths))
    return Pins(vault.head, edited)


_ROW = re.compile(rb"([0-9a-f]{40,64}) \d+ \d+")


@dataclass(frozen=True, slots=True)
class LineHistory:
    """The lines that any commit has `added` to a note, each once, and those `removed` from it, each with the last
    commit that did; all without line ends."""

    added: tuple[str, ...]
    removed: Mapping[str, str]


def blame(vault: Vault, path: str, revision: str = "HEAD", *, any_space: bool = False) -> list[tuple[str, str]]:
    """The lines of a note in a commit (by default the last one), without line ends, each with the id of the commit that
    added it.

    Empty if the commit has no such note. `any_space`: a commit that changed only the space in a line, or gave the last
    line its end, did not add it.
    """
    loose = ["-w"] if any_space else []
    command = ["blame", *loose, "--porcelain", "--no-progress", revision, "--", vault.place.prefix + path]
    out = vault.git.run(*command, ok=(0, 128), drivers_off=True)
    rows: list[tuple[str, str]] = []
    commit = ""
    for line in out.split(b"\n"):
        if match := _ROW.match(line):
            commit = match[1].decode()
        elif line.startswith(b"\t"):
            rows.append((line[1:].rstrip(b"\r").decode("utf-8", "surrogateescape"), commit))
    return rows


def line_history(vault: Vault, path: str) -> LineHistory:
    """The lines that the commits of a note have added and removed, by one run of git over their patches."""
    command = ["log", "--format=%x00%H", "-p", "-U0", "--full-history", "--no-ext-diff", "--no-textconv", "--no-color"]
    out = vault.git.run(*command, "-m", "HEAD", "--", vault.place.prefix + path, ok=(0, 128), drivers_off=True)
    added, removed = dict[str, None](), dict[str, str]()
    commit = ""
    for line in out.decode("utf-8", "replace").splitlines():
        if line.startswith("\0"):
            commit = line[1:]
        elif line.startswith("+") and not line.startswith("+++ "):
            added.setdefault(line[1:])
        elif line.startswith("-") and not line.startswith("--- "):
            removed.setdefault(line[1:], commit)
    return LineHistory(tuple(added), removed)
