"""Every skill there is, from the vault, from what was learned there, and from the package; read once and kept.

A skill is read again when it was said to have changed (`changed`, from the events of its files) or is found to have
(`refresh`). One that cannot be used is left out with its reason and hides no other. Nothing in a skill is ever run.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from agent.skills.loading import files
from agent.skills.loading.pins import Pin, ReviewPins
from agent.skills.reading import chain
from agent.skills.reading.patterns import PatternSet
from agent.skills.reading.skill import FILE, Skill, SkillProblem, SkillSource
from agent.skills.reading.skill_file import FILE_BYTES, SkillFolder, name_problem, parse_skill

FOLDER = "skills"
LEARNED = "skills/learned"
DEPRECATED = "skills/deprecated"
HISTORY = "skills/history"
RESERVED = frozenset({"learned", "mutations", "deprecated", "history"})
"""Folders in a vault's `skills/` that are the agent's own and no skills."""
MOST = 1_000
"""Skills of one place."""


@dataclass(frozen=True, slots=True)
class SkillLocation:
    """A folder that skills lie in: `folder` below `root`; what is `shown` before a skill's name in its path."""

    source: SkillSource
    root: Path
    folder: str
    shown: str
    reserved: frozenset[str] = frozenset()


def skill_locations(vault: Path, package: Path) -> tuple[SkillLocation, ...]:
    """The three places, in the order in which they go before one another."""
    return (
        SkillLocation(SkillSource.VAULT, vault, FOLDER, FOLDER, RESERVED),
        SkillLocation(SkillSource.LEARNED, vault, LEARNED, LEARNED),
        SkillLocation(SkillSource.PACKAGE, package, "", str(package)),
    )


@dataclass(frozen=True, slots=True)
class SkillSnapshot:
    """All skills at one moment. `skills` has every one that can be used; of several with one name, the first that was
    reviewed is the one that is meant, else the first of them."""

    skills: tuple[Skill, ...]
    problems: tuple[SkillProblem, ...]
    named: Mapping[str, Skill]
    candidates: tuple[Skill, ...] = field(init=False, compare=False, repr=False)
    """The skills without those that another of the same name goes before, but for what nobody has looked at."""
    patterns: PatternSet = field(init=False, compare=False, repr=False)
    """All patterns of the candidates."""

    def __post_init__(self) -> None:
        found = tuple(skill for skill in self.skills if not skill.reviewed or self.named[skill.name] is skill)
        told = [skill.triggers for skill in found if skill.triggers is not None]
        every = PatternSet.of(pattern for each in told for pattern in each.every)
        object.__setattr__(self, "candidates", found)
        object.__setattr__(self, "patterns", every)

    def get(self, name: str) -> Skill | None:
        """The skill that is meant by a name."""
        return self.named.get(name)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One folder as it was read. `hashes` are those of its files, where they were wanted."""

    stamp: tuple[files.File, ...]
    skill: Skill | None
    problems: tuple[SkillProblem, ...]
    data: bytes = b""
    hashes: Mapping[str, str] | None = None


@dataclass(slots=True)
class SkillLibrary:
    """The skills of one vault; may be asked by several threads. `passes` counts how often it looked at the disk."""

    locations: tuple[SkillLocation, ...]
    pins: ReviewPins
    passes: int = 0
    reads: int = 0
    _loaded: dict[tuple[SkillSource, str], _Loaded] = field(default_factory=dict)
    _overflow: dict[SkillSource, SkillProblem] = field(default_factory=dict)
    _dirty: set[tuple[SkillSource, str]] = field(default_factory=set)
    _whole: bool = True
    _pins_at: int = -1
    _shelf: SkillSnapshot | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def changed(self, paths: Iterable[str]) -> None:
        """These files of the vault have changed: read the skills they belong to again before the next use."""
        with self._lock:
            for path in paths:
                parts = path.split("/")
                if parts[0] != FOLDER or len(parts) < 2:
                    continue
                if parts[1] == "learned" and len(parts) > 2:
                    self._dirty.add((SkillSource.LEARNED, parts[2]))
                elif parts[1] not in RESERVED:
                    self._dirty.add((SkillSource.VAULT, parts[1]))
                else:
                    self._whole = True

    def refresh(self) -> None:
        """Look at all folders again before the next use; only what has changed is read."""
        with self._lock:
            self._whole = True

    def snapshot(self) -> SkillSnapshot:
        """All skills as they are now, as far as changes are known; quick when there are none."""
        with self._lock:
            pins_at = self.pins.stamp()
            if self._shelf is None or self._whole or self._dirty or pins_at != self._pins_at:
                self.passes += 1
                self._look(everything=self._whole)
                self._pins_at = pins_at
                self._shelf = self._assemble()
            return self._shelf

    def hashes(self, skill: Skill) -> Mapping[str, str]:
        """The SHA-256 of every file of a skill as it was read; raises `BadFolder` or `OSError` when it changed."""
        with self._lock:
            loaded = self._hashed(next(each for each in self.locations if each.source is skill.source), skill.name)
            return loaded.hashes or {}

    def file(self, skill: Skill, path: str) -> tuple[bytes, bool]:
        """A file that lies beside a skill, and whether it is what was reviewed.

        Raises `BadFolder` for one that the skill does not have or that is too long to be read, and `OSError`.
        """
        place = next(each for each in self.locations if each.source is skill.source)
        if path not in skill.files:
            raise files.BadFolder(f"{skill.name} has no file {ascii(path)[1:-1]}")
        data = files.read_file(place.root, f"{place.folder}/{skill.name}", path, FILE_BYTES)
        pin = self.pins.get(skill.key)
        same = pin is not None and pin.files.get(path) == sha256(data).hexdigest()
        return data, skill.source is SkillSource.PACKAGE or (skill.reviewed and same)

    def review(self, skill: Skill, when: datetime, how: str) -> Pin:
        """Trust a skill as it was read. Raises `BadFolder` or `OSError` when its files cannot be read."""
        pin = Pin(skill.key, self.hashes(skill), skill.size, when, how)
        self.pins.put(pin)
        self.refresh()
        return pin

    def _look(self, *, everything: bool) -> None:
        """Read what has changed, or what may have."""
        if not everything:
            dirty, self._dirty = self._dirty, set()
            for place in self.locations:
                there = (
                    set(files.folder_names(place.root, place.folder))
                    if any(s is place.source for s, _ in dirty)
                    else set()
                )
                for _, name in sorted(key for key in dirty if key[0] is place.source):
                    self._load(place, name, there=name in there and name not in place.reserved)
            return
        self._dirty, self._whole = set(), False
        for place in self.locations:
            found = [name for name in files.folder_names(place.root, place.folder) if name not in place.reserved]
            self._overflow.pop(place.source, None)
            if len(found) > MOST:
                reason = f"only the first {MOST:,} of {len(found):,} folders are read; move some of them away"
                self._overflow[place.source] = SkillProblem(place.shown, 1, reason)
            known = {name for source, name in self._loaded if source is place.source}
            for name in sorted(known | set(found[:MOST])):
                self._load(place, name, there=name in found[:MOST])

    def _load(self, place: SkillLocation, name: str, *, there: bool) -> None:
        key = (place.source, name)
        if not there:
            self._loaded.pop(key, None)
            return
        folder = f"{place.folder}/{name}"
        shown = f"{place.shown}/{ascii(name)[1:-1] if not name.isprintable() else name}/{FILE}"
        try:
            found = files.list_files(place.root, folder)
        except (files.BadFolder, OSError) as error:
            self._loaded[key] = _Loaded((), None, (SkillProblem(shown, 1, _words(error)),))
            return
        before = self._loaded.get(key)
        if before is not None and before.stamp == found.files != ():
            return
        self.reads += 1
        self._loaded[key] = _read(place, name, shown, found)

    def _hashed(self, place: SkillLocation, name: str) -> _Loaded:
        """The folder with its hashes; raises `BadFolder` when it is not what was read any more."""
        loaded = self._loaded[place.source, name]
        if loaded.hashes is not None:
            return loaded
        folder = f"{place.folder}/{name}"
        found = files.list_files(place.root, folder)
        hashes = files.hash_files(place.root, folder, found, {FILE: loaded.data})
        if found.files != loaded.stamp or files.list_files(place.root, folder).files != loaded.stamp:
            self._whole = True
            raise files.BadFolder(f"the files of {name} have just changed; look at them again")
        self._loaded[place.source, name] = replace(loaded, hashes=hashes)
        return self._loaded[place.source, name]

    def _assemble(self) -> SkillSnapshot:
        skills: list[Skill] = []
        problems: list[SkillProblem] = list(self._overflow.values())
        for place in self.locations:
            for (source, name), loaded in sorted(self._loaded.items()):
                if source is place.source:
                    problems += loaded.problems
                    skills += [self._judged(place, name, loaded.skill)] if loaded.skill is not None else []
        good: list[Skill] = []
        meant = _meant(skills)
        kept, flawed = chain.check_chains(meant)
        problems += flawed
        for skill in skills:
            if meant[skill.name] is skill:
                good += [skill] if skill.name in kept else []
                continue
            found = list(chain.flaws(skill, kept.get))
            problems += [SkillProblem(skill.path, skill.lines.get(flaw.key, 1), flaw.reason) for flaw in found]
            good += [] if found else [skill]
        return SkillSnapshot(tuple(good), tuple(problems), _meant(good))

    def _judged(self, place: SkillLocation, name: str, skill: Skill) -> Skill:
        """The skill with whether somebody here has looked at exactly these files."""
        if place.source is SkillSource.PACKAGE:
            return replace(skill, reviewed=True)
        pin = self.pins.get(skill.key)
        if pin is None or pin.size != skill.size:
            return skill
        try:
            found = files.folder_digest(self._hashed(place, name).hashes or {})
        except (files.BadFolder, OSError):
            return skill
        return replace(skill, digest=found, reviewed=found == pin.digest)


def _meant(skills: Iterable[Skill]) -> dict[str, Skill]:
    """The skill that is meant by each name: a stranger's cannot take the place of one that is trusted."""
    found: dict[str, Skill] = {}
    for skill in skills:
        other = found.get(skill.name)
        if other is None or (skill.reviewed and not other.reviewed):
            found[skill.name] = skill
    return found


def _read(place: SkillLocation, name: str, shown: str, found: files.Listing) -> _Loaded:
    """A folder's skill, with what is wrong with it."""
    links = tuple(SkillProblem(shown, 1, f"{path} is a link or no file, and left out") for path in found.strange)
    beside = tuple(file.path for file in found.files if file.path != FILE)
    if not found.files:
        return _Loaded((), None, links)  # what git leaves of a skill that was moved away
    if len(beside) == len(found.files):
        other = next((path for path in beside if path.lower() == FILE.lower()), "")
        reason = (
            f"{other} must be called {FILE}" if other else name_problem(name) or f"there is no {FILE} in this folder"
        )
        return _Loaded(found.files, None, (*links, SkillProblem(shown, 1, reason)))
    try:
        data = files.read_file(place.root, f"{place.folder}/{name}", FILE, FILE_BYTES)
    except (files.BadFolder, OSError) as error:
        return _Loaded(found.files, None, (*links, SkillProblem(shown, 1, _words(error))))
    read = parse_skill(data, SkillFolder(name, place.source, shown, beside, found.size))
    return _Loaded(found.files, read.skill, (*links, *read.problems), data)


def _words(error: Exception) -> str:
    return str(error.strerror or error).lower() if isinstance(error, OSError) else str(error)
