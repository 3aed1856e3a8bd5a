"""Finds commits by actor, run, job, note or time: the index chooses them, and git is asked for those only.

`commits` gives what a walk over the whole history would give, in the same order.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Protocol

from agent.dataclass import dataclass
from agent.errors import Unknown
from agent.vault.change import Kind
from agent.vault.history.commit_index import (
    HUMAN,
    CommitIndex,
    IndexedCommit,
    Scan,
    field_start,
    load_index,
    needle,
    parse_row,
    seconds_of,
)
from agent.vault.history.commits import Commit, filled, newest, read_commits, resolve
from agent.vault.store import Vault


class NamedChange(Protocol):
    """The names in the change of one file; `old_path` is set for a rename."""

    @property
    def kind(self) -> Kind: ...
    @property
    def path(self) -> str: ...
    @property
    def old_path(self) -> str | None: ...


class Trail:
    """The names that a note, or the notes of a folder, have had. Feed it the changes of each commit, newest first."""

    def __init__(self, path: str) -> None:
        self.asked = path.strip("/")
        self.earlier: set[str] = set()

    def follow(self, changes: Iterable[NamedChange]) -> bool:
        """True if the changes of one commit touched the followed notes; also records their earlier names."""
        touched = False
        for change in changes:
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


_AT_FIRST, _AT_ONCE = 64, 4_096
"""How many commits are looked at together: few at first, since a limit may soon be reached."""


_MANY = 16
"""Earlier names up to which each is searched for by itself."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The filters of one search; None: any. `runs` are ids of runs, each with its sub-runs."""

    actor: str | None = None
    runs: frozenset[str] | None = None
    job: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def accepts(self, actor: str, run: str, when: float) -> bool:
        return (
            (self.actor is None or actor == self.actor)
            and (self.runs is None or (bool(run) and any(part in self.runs for part in _names(run))))
            and (self.job is None or actor == f"job:{self.job}")
            and (self.since is None or when >= self.since.timestamp())
            and (self.until is None or when <= self.until.timestamp())
        )

    def needles(self) -> tuple[bytes, ...]:
        """What the row of a wanted commit has one of; nothing: any row."""
        if self.runs is not None:
            return tuple(map(field_start, sorted(self.runs)))
        if self.job is not None:
            return (needle(f"job:{self.job}"),)
        return (needle(self.actor),) if self.actor not in {None, HUMAN} and self.actor is not None else ()


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
    start = vault.head if revision == "HEAD" else resolve(vault, revision)
    if start is None or (path and vault.private_notes.have(path.strip("/"))):
        return []
    wanted = _Wanted(actor, None if run is None else frozenset({run}), job, since, until)
    if all(each is None for each in (actor, run, job, since, until)) and not path and not vault.place.prefix:
        return newest(vault, start, limit)
    if start != vault.head:
        return _walked(vault, start, wanted, path, limit)
    return _found(vault, load_index(vault), wanted, path, limit)


def indexed_commits(vault: Vault, path: str, actor: str | None = None) -> list[IndexedCommit]:
    """What the index has of the commits that touched a note or folder, newest first; git is asked for none of them."""
    if vault.head is None:
        return []
    return _chosen(vault, load_index(vault), _Wanted(actor), path, None)


def commits_of_runs(vault: Vault, runs: Collection[str]) -> list[Commit]:
    """The commits of these runs and of those that they delegated to, newest first."""
    if not runs or vault.head is None:
        return []
    return _found(vault, load_index(vault), _Wanted(runs=frozenset(runs)), None, None)


def refuse_unknown_run(vault: Vault, run: str) -> None:
    """Raise `Unknown` if no change of the vault is of this run."""
    if not commits_of_runs(vault, (run,)):
        raise Unknown("no change here is of a run {run}", hint="vault-agent log names the run of each change", run=run)


def commit_of_call(vault: Vault, run: str, call: str) -> tuple[str, str] | None:
    """The id and subject of the commit with what one tool call of a run did here; None if there is none."""
    found = (each for each in commits(vault, run=run) if each.run == run and any(one.is_of(call) for one in each.work))
    return next(((each.id, each.subject) for each in found), None)


def believed(vault: Vault, found: Iterable[IndexedCommit]) -> list[IndexedCommit]:
    """The commits, with the trailers of those that this machine cannot confirm taken off."""
    listed = list(found)
    signed = [each.id for each in listed if each.is_signed]
    made = vault.provenance.made_here(signed) if signed else set()
    return [
        each if each.id in made or not each.is_signed else replace(each, actor=HUMAN, run="", tool="", undoes=())
        for each in listed
    ]


def _found(vault: Vault, index: CommitIndex, wanted: _Wanted, path: str | None, limit: int | None) -> list[Commit]:
    def build(chosen: Sequence[IndexedCommit]) -> list[Commit]:
        return read_commits(vault, [each.id for each in chosen])

    if limit is None:
        return build(_chosen(vault, index, wanted, path, None))
    return filled(limit, lambda count: _chosen(vault, index, wanted, path, count), build)


def _chosen(
    vault: Vault, index: CommitIndex, wanted: _Wanted, path: str | None, limit: int | None
) -> list[IndexedCommit]:
    times = _Wanted(since=wanted.since, until=wanted.until)
    if times != _Wanted() and not path:
        index = CommitIndex(b"".join(row + b"\n" for row in index.rows if times.accepts("", "", seconds_of(row))))
    needles = wanted.needles()
    possible = _following(index, path) if path else index.having(*needles) if needles else index.all()
    chosen, size = list[IndexedCommit](), _AT_FIRST
    while (limit is None or len(chosen) < limit) and (some := list(islice(possible, size))):
        size = min(size * 2, _AT_ONCE)
        known = (each for each in believed(vault, some) if each.sides[0] or not vault.place.prefix)
        chosen += [each for each in known if wanted.accepts(each.actor, each.run, each.seconds)]
    return chosen if limit is None else chosen[:limit]


def _following(index: CommitIndex, path: str) -> Iterator[IndexedCommit]:
    """The commits that touched a note or the notes of a folder, under whatever name, newest first."""
    trail = Trail(path)
    scan = Scan(index.content, (needle(trail.asked), field_start(f"{trail.asked}/")))
    named: set[str] = set()
    while (row := scan.row()) is not None:
        commit = parse_row(row)
        if not trail.follow(commit.sides[0]):
            continue
        yield commit
        for name in trail.earlier - named:
            scan.add(needle(name))
        named |= trail.earlier
        if len(named) > _MANY:
            yield from _following_many(CommitIndex(index.content[scan.end :]), trail)
            return


def _following_many(index: CommitIndex, trail: Trail) -> Iterator[IndexedCommit]:
    """The same for a folder from which many notes have come: each row is looked at once for all names."""
    start = field_start(f"{trail.asked}/")
    fields = {needle(name)[1:-1] for name in (trail.asked, *trail.earlier)}
    for row in index.rows:
        if start not in row and fields.isdisjoint(row.split(b"\t")):
            continue
        commit = parse_row(row)
        if trail.follow(commit.sides[0]):
            yield commit
            fields |= {needle(name)[1:-1] for name in trail.earlier}


def _walked(vault: Vault, start: str, wanted: _Wanted, path: str | None, limit: int | None) -> list[Commit]:
    """The same from a walk over the whole history of another revision."""
    trail = Trail(path) if path else None
    chosen = [
        commit
        for commit in newest(vault, start, None)
        if (commit.files or not vault.place.prefix)
        and (trail is None or trail.follow(commit.files))
        and wanted.accepts(commit.actor, commit.run, commit.when.timestamp())
    ]
    return chosen if limit is None else chosen[:limit]


def _names(run: str) -> Iterator[str]:
    """The run, and each run that delegated to it: `a.b.c`, `a.b`, `a`."""
    while run:
        yield run
        run = run.rpartition(".")[0]
