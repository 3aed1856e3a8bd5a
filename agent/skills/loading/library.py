"""The skill library: the skills of the vault, the learned ones and those of the package, read once and cached.

A skill is read again after `changed` was called with one of its files, or after `refresh` if its files differ. A skill
that cannot be used is left out with the reason, without affecting others. Nothing in a skill is ever run.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime
from hashlib import sha256

from agent.dataclass import dataclass
from agent.skills.loading.files import (
    TRANSLATIONS,
    BadFolder,
    File,
    Listing,
    Pin,
    ReviewPins,
    SkillLocation,
    folder_digest,
    folder_names,
    hash_files,
    in_vault,
    list_files,
    read_file,
    split_name,
)
from agent.skills.reading.patterns import TaskPattern
from agent.skills.reading.skill import FILE, Skill, SkillProblem, SkillSource, chain_problems, check_chains
from agent.skills.reading.skill_file import FILE_BYTES, SkillFolder, name_problem, parse_skill
from agent.texts import Language
from agent.vault.folders import SKILLS, AgentFolder

MOST = 1_000
"""The most skills of one location."""


@dataclass(frozen=True, slots=True)
class SkillSnapshot:
    """All skills at one moment.

    `problems` has what is wrong, in the files of the usable skills (`warnings`) and of the others (`errors`). `skills`
    are all usable ones; `named` has one per name: the first reviewed one, else the first. `candidates` are the
    skills without reviewed ones that `named` replaces with another; unreviewed ones stay in, to be shown. `patterns`
    are all patterns of the candidates, each once.
    """

    skills: tuple[Skill, ...]
    problems: tuple[SkillProblem, ...]
    named: Mapping[str, Skill]
    candidates: tuple[Skill, ...] = field(init=False, compare=False, repr=False)
    patterns: tuple[TaskPattern, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        candidates = tuple(skill for skill in self.skills if not skill.reviewed or self.named[skill.name] is skill)
        triggers = [skill.triggers for skill in candidates if skill.triggers is not None]
        patterns = dict.fromkeys(pattern for each in triggers for pattern in each.every)
        object.__setattr__(self, "candidates", candidates)
        object.__setattr__(self, "patterns", tuple(patterns))

    @property
    def errors(self) -> tuple[SkillProblem, ...]:
        """The problems in the files of skills that cannot be used, with their reasons."""
        usable = {skill.path for skill in self.skills}
        return tuple(each for each in self.problems if each.path not in usable)

    @property
    def warnings(self) -> tuple[SkillProblem, ...]:
        """The problems in the files of skills that are used all the same."""
        usable = {skill.path for skill in self.skills}
        return tuple(each for each in self.problems if each.path in usable)

    def get(self, name: str) -> Skill | None:
        """The skill with this name; None if there is none."""
        return self.named.get(name)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One folder as read; `hashes` of its files, computed on first request."""

    stamp: tuple[File, ...]
    skill: Skill | None
    problems: tuple[SkillProblem, ...]
    data: bytes = b""
    hashes: Mapping[str, str] | None = None


@dataclass(slots=True)
class SkillLibrary:
    """The skills of one vault; thread-safe. `passes` counts the scans of the disk, `reads` the skills read."""

    locations: tuple[SkillLocation, ...]
    pins: ReviewPins
    passes: int = 0
    reads: int = 0
    home: AgentFolder = AgentFolder()
    language: Language = "en"
    _loaded: dict[tuple[SkillSource, str], _Loaded] = field(default_factory=dict)
    _overflow: dict[SkillSource, SkillProblem] = field(default_factory=dict)
    _dirty: set[tuple[SkillSource, str]] = field(default_factory=set)
    _all_dirty: bool = True
    _pins_stamp: int = -1
    _snapshot: SkillSnapshot | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def changed(self, paths: Iterable[str]) -> None:
        """Mark the skills that contain these files of the vault for reading again on the next use."""
        with self._lock:
            for path in paths:
                name = self.home.name_of(path)
                found = split_name(name)
                if found is not None:
                    self._dirty.add((found.source, found.name))
                elif name.startswith(SKILLS):
                    self._all_dirty = True

    def refresh(self) -> None:
        """List all folders again on the next use, and read the skills whose files have changed."""
        with self._lock:
            self._all_dirty = True

    def snapshot(self) -> SkillSnapshot:
        """All skills now, as far as changes are known; the same object as before without changes."""
        with self._lock:
            stamp = self.pins.stamp()
            if self._snapshot is None or self._all_dirty or self._dirty or stamp != self._pins_stamp:
                self.passes += 1
                self._load_changed()
                self._pins_stamp = stamp
                self._snapshot = self._assemble()
            return self._snapshot

    def hashes(self, skill: Skill) -> Mapping[str, str]:
        """The SHA-256 of every file of a skill as it was read; raises `BadFolder` or `OSError` if a file changed."""
        with self._lock:
            return self._hashes(self._location(skill), skill.name)

    def file(self, skill: Skill, path: str) -> tuple[bytes, bool]:
        """A file of a skill; True if it is trusted: from the package, or unchanged since the review.

        Raises `BadFolder` for a file that the skill does not have or that is too long, and `OSError`.
        """
        if path not in skill.files:
            raise BadFolder(f"{skill.name} has no file {ascii(path)[1:-1]}")
        location = self._location(skill)
        data = read_file(location.root, location.folder_of(skill.name), path, FILE_BYTES)
        pin = self.pins.get(skill.key)
        same = pin is not None and pin.files.get(path) == sha256(data).hexdigest()
        return data, skill.source is SkillSource.PACKAGE or (skill.reviewed and same)

    def review(self, skill: Skill, when: datetime, how: str) -> Pin:
        """Trust a skill as read; raises `BadFolder` or `OSError` if its files cannot be read."""
        pin = Pin(skill.key, self.hashes(skill), skill.size, when, how)
        self.pins.put(pin)
        self.refresh()
        return pin

    def _location(self, skill: Skill) -> SkillLocation:
        return next(each for each in self.locations if each.source is skill.source)

    def _load_changed(self) -> None:
        everything, dirty = self._all_dirty, self._dirty
        self._all_dirty, self._dirty = False, set()
        for location in self.locations:
            source = location.source
            wanted = {name for key, name in (self._loaded if everything else dirty) if key is source}
            if not everything and not wanted:
                continue
            there = [name for name in folder_names(location.root, location.folder) if name not in location.reserved]
            if everything:
                self._overflow.pop(source, None)
                if len(there) > MOST:
                    reason = f"only the first {MOST:,} of {len(there):,} folders are read; move some of them away"
                    self._overflow[source] = SkillProblem(location.label, 1, reason)
                there = there[:MOST]
                wanted |= set(there)
            present = set(there)
            for name in sorted(wanted):
                if name in present:
                    self._load(location, name)
                else:
                    self._loaded.pop((source, name), None)

    def _load(self, location: SkillLocation, name: str) -> None:
        key = (location.source, name)
        label = f"{location.label}/{ascii(name)[1:-1] if not name.isprintable() else name}/{FILE}"
        try:
            listing = list_files(location.root, location.folder_of(name))
        except (BadFolder, OSError) as error:
            self._loaded[key] = _Loaded((), None, (SkillProblem(label, 1, _reason(error)),))
            return
        before = self._loaded.get(key)
        if before is None or not listing.files or before.stamp != listing.files:
            self.reads += 1
            self._loaded[key] = self._in_vault(location, _read_folder(location, name, label, listing))

    def _in_vault(self, location: SkillLocation, loaded: _Loaded) -> _Loaded:
        """The folder; a skill of the package in the language of the vault and with its folders."""
        skill = loaded.skill
        if skill is None or location.source is not SkillSource.PACKAGE:
            return loaded
        file = TRANSLATIONS.get(self.language, "")
        folder = location.folder_of(skill.name)
        found = read_file(location.root, folder, file, FILE_BYTES) if file in skill.files else None
        return replace(loaded, skill=in_vault(skill, found, self.home, self.language))

    def _hashes(self, location: SkillLocation, name: str) -> Mapping[str, str]:
        """The hashes of a folder's files; raises `BadFolder` if they are not those that were read."""
        loaded = self._loaded[location.source, name]
        if loaded.hashes is not None:
            return loaded.hashes
        folder = location.folder_of(name)
        listing = list_files(location.root, folder)
        hashes = hash_files(location.root, folder, listing, {FILE: loaded.data})
        if listing.files != loaded.stamp or list_files(location.root, folder).files != loaded.stamp:
            self._all_dirty = True
            raise BadFolder(f"the files of {name} have just changed; look at them again")
        self._loaded[location.source, name] = replace(loaded, hashes=hashes)
        return hashes

    def _assemble(self) -> SkillSnapshot:
        skills: list[Skill] = []
        problems: list[SkillProblem] = list(self._overflow.values())
        for location in self.locations:
            for (source, name), loaded in sorted(self._loaded.items()):
                if source is location.source:
                    problems += loaded.problems
                    skills += [self._with_review(location, name, loaded.skill)] if loaded.skill is not None else []
        named = _by_name(skills)
        working, found = check_chains(named)
        problems += found
        usable: list[Skill] = []
        for skill in skills:
            if named[skill.name] is skill:
                usable += [skill] if skill.name in working else []
                continue
            own = list(chain_problems(skill, working.get))
            problems += own
            usable += [] if own else [skill]
        return SkillSnapshot(tuple(usable), tuple(problems), _by_name(usable))

    def _with_review(self, location: SkillLocation, name: str, skill: Skill) -> Skill:
        """The skill, with `reviewed` set if it comes with the package or its pin has exactly these files."""
        if location.source is SkillSource.PACKAGE:
            return replace(skill, reviewed=True)
        pin = self.pins.get(skill.key)
        if pin is None or pin.size != skill.size:
            return skill
        try:
            return replace(skill, reviewed=folder_digest(self._hashes(location, name)) == pin.digest)
        except (BadFolder, OSError):
            return skill


def _by_name(skills: Iterable[Skill]) -> dict[str, Skill]:
    """One skill for each name: an unreviewed skill never replaces a reviewed one."""
    found: dict[str, Skill] = {}
    for skill in skills:
        other = found.get(skill.name)
        if other is None or (skill.reviewed and not other.reviewed):
            found[skill.name] = skill
    return found


def _read_folder(location: SkillLocation, name: str, label: str, listing: Listing) -> _Loaded:
    """The skill in a folder, with its problems."""
    links = tuple(SkillProblem(label, 1, f"{path} is a link or no file, and left out") for path in listing.strange)
    beside = tuple(file.path for file in listing.files if file.path != FILE)
    if not listing.files:
        return _Loaded((), None, links)  # git leaves an empty folder after a skill was moved away
    if len(beside) == len(listing.files):
        other = next((path for path in beside if path.lower() == FILE.lower()), "")
        missing = name_problem(name) or f"there is no {FILE} in this folder"
        reason = f"{other} must be called {FILE}" if other else missing
        return _Loaded(listing.files, None, (*links, SkillProblem(label, 1, reason)))
    try:
        data = read_file(location.root, location.folder_of(name), FILE, FILE_BYTES)
    except (BadFolder, OSError) as error:
        return _Loaded(listing.files, None, (*links, SkillProblem(label, 1, _reason(error))))
    parsed = parse_skill(data, SkillFolder(name, location.source, label, beside, listing.size))
    return _Loaded(listing.files, parsed.skill, (*links, *parsed.problems), data)


def _reason(error: Exception) -> str:
    return str(error.strerror or error).lower() if isinstance(error, OSError) else str(error)
