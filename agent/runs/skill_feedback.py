"""The person's feedback on skills without a command: boxes ticked in the notes of runs, edits of text that runs wrote.

Read from the notes and the git history on demand, so that feedback counts even if no process was running when it was
given. Once it is in the skill's history, it is not searched for again.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from datetime import datetime
from pathlib import Path

from agent.clock import time_shown
from agent.loop.record_parse import run_ends
from agent.memory.capture.writer import AFTER_RUN_TOOLS
from agent.skills.history.feedback import CORRECTION, RunWrites, corrected_runs, record_corrections, record_opinion
from agent.skills.history.feedback_form import parse_feedback_form
from agent.skills.history.usage import Use, history_path, load_uses, merge_opinions
from agent.vault.file_changes import FileChange
from agent.vault.folders import SESSIONS, AgentFolder
from agent.vault.history.commits import Commit
from agent.vault.history.find import commits
from agent.vault.history.trailers import HUMAN
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

_SINCE = 2 * CORRECTION
"""The time after a use in which feedback is searched for: a day for the run, one for the edit."""
_COMMITS = 500
"""Newest commits that are searched."""
_OTHERS = AFTER_RUN_TOOLS | {"inbox", "flush", "skill_feedback"}
"""Tools whose commits are not part of a run's work: an answer in an inbox note is there to be replied to."""


def gather_feedback(workspace: Workspace, names: Iterable[str]) -> tuple[Use, ...]:
    """Record the person's new feedback on these skills; returns the recorded rows."""
    vault, now = workspace.vault, workspace.clock.now()
    unsaid = [use for name in names for use in _unsaid(vault, name, now - _SINCE)]
    found = [*_by_boxes(workspace, unsaid)]
    if workspace.settings.skills.corrections:
        said = {(use.name, use.run) for use in found}
        left = [use for use in unsaid if (use.name, use.run) not in said]
        runs = _corrected(vault, {use.run for use in left}, now) if left else set()
        found += record_corrections(vault, dict.fromkeys(use.name for use in left if use.run in runs), runs, now)
    return tuple(found)


def _unsaid(vault: Vault, name: str, since: datetime) -> Iterator[Use]:
    """The uses of a skill since then that have no feedback."""
    try:
        written = Path(vault.place.root, vault.home.at(history_path(name))).lstat().st_mtime
        if time_shown(vault.clock, written) < since.timestamp():
            return
    except OSError:
        return
    yield from (use for use in merge_opinions(load_uses(vault, name)) if not use.feedback and use.time >= since)


def _by_boxes(workspace: Workspace, unsaid: Iterable[Use]) -> Iterator[Use]:
    notes: dict[str, dict[str, str]] = {}
    for use in unsaid:
        if use.session not in notes:
            vault = workspace.vault
            data = vault.own_version(use.session) if vault.home.holds(use.session, SESSIONS) else None
            notes[use.session] = dict(run_ends((data or b"").decode("utf-8", "replace")))
        said = dict(parse_feedback_form(notes[use.session].get(use.run, "")))
        if use.name in said:
            yield record_opinion(workspace.vault, use.name, said[use.name], workspace.clock.now(), use.run, use.run)


def _corrected(vault: Vault, runs: set[str], now: datetime) -> set[str]:
    """The runs among `runs` that wrote lines which a person changed or removed within a day."""
    found = [each for each in commits(vault, limit=_COMMITS) if each.when >= now - _SINCE - CORRECTION]
    work = [each for each in found if each.actor != HUMAN and _root(each) in runs and each.tool not in _OTHERS]
    wrote = [RunWrites(_root(each), each.when, frozenset(_paths(each, vault.home))) for each in work]
    met = [
        (run, change, theirs)
        for commit in (each for each in found if each.actor == HUMAN and wrote)
        for change in commit.files
        for run in corrected_runs(_before(change), commit.when, wrote)
        for done in work
        if _root(done) == run
        for theirs in done.files
        if theirs.path == _before(change)
    ]
    lines = _lines(vault, (each for _, *both in met for each in both))
    return {run for run, change, theirs in met if _brought(theirs, lines) & _taken(change, lines)}


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
