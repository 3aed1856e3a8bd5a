"""Which changes of notes start a job. Pure: the caller gives the events and the time.

`fits` judges one event; `ChangeWatch` collects what fits until enough notes lie still. What the program wrote itself
never counts, and what arrived from elsewhere only with `from: anywhere`.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Protocol

from agent.dataclass import dataclass
from agent.events.types import FileChanged, FilesChanged, NoteCreated, NoteDeleted, NoteEdited, NoteMoved, Origin
from agent.events.types import VaultEvent as AnyVaultEvent
from agent.markdown.changes import NoteChange, PropertySet, SectionAdded, TagAdded, TaskAdded, TaskTicked, TaskUnticked
from agent.markdown.yaml_write import Value, is_list
from agent.schedule.job import Job
from agent.schedule.triggers import ChangeTrigger

_WILD = frozenset("*?")


class _Compiled(Protocol):
    def fullmatch(self, text: str) -> object: ...


def matches(path: str, patterns: Iterable[str]) -> bool:
    """True if a path of the vault matches one of the patterns, or if there is no pattern."""
    plain = _folded(path)
    each = [_compiled(_folded(pattern)) for pattern in patterns]
    return not each or any(pattern.fullmatch(plain) is not None for pattern in each)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> _Compiled:
    """The pattern for RE2, which no pattern of a person can freeze."""
    import re2  # type: ignore[import-untyped]

    parts = [part for part in pattern.split("/") if part]
    if len(parts) == 1 and not pattern.endswith("/") and parts != ["**"]:
        parts.insert(0, "**")
    *folders, last = parts or ["**"]
    source = "".join("(?:.*/)?" if part == "**" else f"{_part(part)}/" for part in folders)
    if last == "**":
        source += ".*"
    elif pattern.endswith("/"):
        source += f"{_part(last)}/.*"
    else:
        source += _part(last) + ("" if _WILD & set(last) else r"(?:\.md|/.*)?")
    options = re2.Options()
    options.dot_nl, options.log_errors = True, False
    compiled: _Compiled = re2.compile(source, options)
    return compiled


def _part(part: str) -> str:
    import re2

    stars = {"*": "[^/]*", "?": "[^/]"}
    return "".join(stars.get(char) or re2.escape(char) for char in part.replace("**", "*"))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


VaultEvent = AnyVaultEvent[NoteChange]
_TASKS: Mapping[str, type] = {"ticked": TaskTicked, "unticked": TaskUnticked, "added": TaskAdded}


def fits(change: ChangeTrigger, event: VaultEvent) -> bool:
    """True if the event meets all conditions of the trigger. Conditions on the content of a note are not met if its
    older version was not available."""
    if isinstance(event, FileChanged) or event.origin is Origin.OWN:
        return False
    if event.origin in (Origin.PULLED, Origin.ARRIVED) and not change.anywhere:
        return False
    if not matches(event.path, change.paths):
        return False
    if change.created and not _is_new(change, event):
        return False
    if isinstance(event, NoteDeleted):
        return not (change.created or _has_content_condition(change))
    if not _has_content_condition(change):
        return not (isinstance(event, NoteEdited) and event.compared and not event.changes)
    return _content_fits(change, event.changes)


@dataclass(frozen=True, slots=True)
class ChangesReady:
    """A job starts because of these notes, in the order of their changes."""

    job: Job
    paths: tuple[str, ...]


@dataclass(slots=True)
class ChangeWatch:
    """The changed notes that fit each job's triggers and wait to lie still, or for more of them.

    Times are monotonic seconds.
    """

    _jobs: dict[str, Job] = field(default_factory=dict, init=False)
    _waiting: dict[tuple[str, ChangeTrigger], dict[str, float]] = field(default_factory=dict, init=False)

    def set_jobs(self, jobs: Sequence[Job]) -> None:
        """The jobs as they are now; what waits for a trigger that is gone is forgotten."""
        self._jobs = {job.id: job for job in jobs if job.status == "active"}
        all_triggers = ((job.id, each) for job in self._jobs.values() for each in job.triggers)
        there = {(id, each) for id, each in all_triggers if isinstance(each, ChangeTrigger)}
        self._waiting = {key: self._waiting.get(key, {}) for key in sorted(there, key=lambda key: key[0])}

    def take(self, poll: FilesChanged[NoteChange]) -> None:
        """Collect what fits among these events; a note that changes again begins to wait anew."""
        for (_, trigger), notes in self._waiting.items():
            for event in poll.events:
                if isinstance(event, NoteMoved) and event.source in notes:
                    del notes[event.source]
                    notes[event.path] = poll.now
                elif fits(trigger, event):
                    notes.pop(event.path, None)
                    notes[event.path] = poll.now
                elif isinstance(event, NoteDeleted):
                    notes.pop(event.path, None)
                elif event.path in notes and event.origin is not Origin.OWN:
                    notes[event.path] = poll.now

    def ready(self, now: float) -> tuple[ChangesReady, ...]:
        """The jobs that start now; their notes are forgotten."""
        return tuple(self._ready(now))

    def collected(self) -> dict[str, tuple[str, ...]]:
        """The notes that wait, by job, for the state on disk."""
        found: dict[str, tuple[str, ...]] = {}
        for (job, _), notes in self._waiting.items():
            if notes:
                found[job] = (*found.get(job, ()), *notes)
        return found

    def restore(self, collected: Mapping[str, Sequence[str]], now: float) -> None:
        """Let notes wait again that waited before a restart."""
        for (job, trigger), notes in self._waiting.items():
            paths = (path for path in collected.get(job, ()) if matches(path, trigger.paths))
            notes.update(dict.fromkeys(paths, now))

    def _ready(self, now: float) -> Iterator[ChangesReady]:
        for (job, trigger), notes in self._waiting.items():
            still = [path for path, last in notes.items() if now - last >= trigger.quiet]
            if len(still) >= trigger.count:
                for path in still:
                    del notes[path]
                yield ChangesReady(self._jobs[job], tuple(still))


def _is_new(change: ChangeTrigger, event: VaultEvent) -> bool:
    """True for a note that was created, or moved to where the trigger looks from elsewhere."""
    if isinstance(event, NoteMoved):
        return bool(change.paths) and not matches(event.source, change.paths)
    return isinstance(event, NoteCreated)


def _has_content_condition(change: ChangeTrigger) -> bool:
    return bool(change.task or change.tag or change.key or change.heading)


def _content_fits(change: ChangeTrigger, changes: Sequence[NoteChange]) -> bool:
    return (
        (not change.task or any(isinstance(each, _TASKS[change.task]) for each in changes))
        and (not change.tag or any(_adds_tag(each, change.tag) for each in changes))
        and (not change.key or any(_sets(each, change.key, change.value) for each in changes))
        and (not change.heading or any(_adds_heading(each, change.heading) for each in changes))
    )


def _adds_tag(change: NoteChange, tag: str) -> bool:
    """True if the tag, or one below it such as `tag/part`, was added."""
    return isinstance(change, TagAdded) and f"{change.name}/".casefold().startswith(f"{tag}/".casefold())


def _adds_heading(change: NoteChange, heading: str) -> bool:
    return isinstance(change, SectionAdded) and change.path[-1].casefold() == heading.casefold()


def _sets(change: NoteChange, key: str, wanted: str) -> bool:
    """True if the property was set, to `wanted` if that is not empty, or to a list with it that had it not before."""
    if not isinstance(change, PropertySet) or change.key.casefold() != key.casefold():
        return False
    return not wanted or (wanted.casefold() in _words(change.new) and wanted.casefold() not in _words(change.old))


def _words(value: Value) -> set[str]:
    return {str(each).casefold() for each in (value if is_list(value) else (value,))}
