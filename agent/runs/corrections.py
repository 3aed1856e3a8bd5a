"""Which runs the person has corrected: they changed or removed lines, within a day, that the run had written.

Read from the git history on demand, so that a correction counts even if no process was running when it was made.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime

from agent.memory.capture.writer import is_work
from agent.skills.history.feedback import CORRECTION, RunWrites, corrected_runs
from agent.vault.change import FileChange
from agent.vault.folders import AgentFolder
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit, work_of
from agent.vault.history.find import commits
from agent.vault.store import Vault

LOOKED_BACK = 2 * CORRECTION
"""The time after a run in which its corrections are searched for: a day for the run, one for the edit."""
_COMMITS = 500
"""Newest commits that are searched."""
_OTHERS = frozenset({"inbox", "flush", "skill_feedback", "rules"})
"""Tools whose commits are not part of a run's work: an answer in an inbox note is there to be replied to."""


def corrected_among(vault: Vault, runs: set[str], now: datetime) -> set[str]:
    """The runs among `runs` that wrote lines which a person changed or removed within a day."""
    found = [each for each in commits(vault, limit=_COMMITS) if each.when >= now - LOOKED_BACK - CORRECTION]
    of_runs = (each for each in found if each.actor != HUMAN and _root(each) in runs and each.tool not in _OTHERS)
    work = [work_of(each) if each.work else each for each in of_runs if is_work(each)]
    wrote = [RunWrites(_root(each), each.when, frozenset(_paths(each, vault.home))) for each in work]
    by_person = [each for each in found if each.actor == HUMAN and wrote]
    met = [(run, change, theirs) for run, change in _edits(by_person, wrote) for theirs in _files(work, run, change)]
    lines = _lines(vault, (each for _, *both in met for each in both))
    return {run for run, change, theirs in met if _brought(theirs, lines) & _taken(change, lines)}


def _edits(by_person: Iterable[Commit], wrote: Sequence[RunWrites]) -> Iterator[tuple[str, FileChange]]:
    """The changes by the person, each with a run that wrote into the same note less than a day before."""
    for commit in by_person:
        for change in commit.files:
            for run in corrected_runs(_before(change), commit.when, wrote):
                yield run, change


def _files(work: Iterable[Commit], run: str, change: FileChange) -> Iterator[FileChange]:
    """The changes by a run to the note that the person has changed."""
    files = (each for commit in work if _root(commit) == run for each in commit.files)
    return (each for each in files if each.path == _before(change))


def _before(change: FileChange) -> str:
    """The path of the note before a change."""
    return change.old_path or change.path


def _brought(change: FileChange, lines: Mapping[str, Set[bytes]]) -> Set[bytes]:
    after, before = _lines_of(change, lines)
    return after - before


def _taken(change: FileChange, lines: Mapping[str, Set[bytes]]) -> Set[bytes]:
    after, before = _lines_of(change, lines)
    return before - after


def _lines_of(change: FileChange, lines: Mapping[str, Set[bytes]]) -> list[Set[bytes]]:
    """The lines of the file after the change, and before it."""
    return [lines.get(each.oid, frozenset()) if each else frozenset() for each in (change.after, change.before)]


def _lines(vault: Vault, changes: Iterable[FileChange]) -> Mapping[str, Set[bytes]]:
    """The lines of all versions in these changes, by blob id; each version is read once, in one process."""
    versions = (each for change in changes for each in (change.before, change.after) if each is not None)
    ids = list(dict.fromkeys(each.oid for each in versions))
    found = zip(ids, vault.read_blobs(ids), strict=True)
    return {id: {line.strip() for line in blob.splitlines() if line.strip()} for id, blob in found if blob is not None}


def _paths(commit: Commit, home: AgentFolder) -> Iterator[str]:
    return (each.path for each in commit.files if home.row(each.path).is_written_for_the_person)


def _root(commit: Commit) -> str:
    return commit.run.partition(".")[0]
