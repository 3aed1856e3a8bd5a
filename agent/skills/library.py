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

from agent.skills import chain, tree
from agent.skills.asked import asked_about
from agent.skills.edited import Edit
from agent.skills.patterns import Together
from agent.skills.read_skill import FILE_BYTES, Where, bad_name, read_skill
from agent.skills.reviewed import Pin, Pins
from agent.skills.skill import FILE, Problem, Skill, Source
from agent.vault.folders import DEPRECATED, LEARNED, MUTATIONS, SKILL_HISTORY, SKILLS

RESERVED = frozenset(path[len(SKILLS) : -1] for path in (LEARNED, MUTATIONS, DEPRECATED, SKILL_HISTORY))
"""Folders in a vault's `skills/` that are the agent's own and no skills."""
MOST = 1_000
"""Skills of one place."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that skills lie in: `folder` below `root`; what is `shown` before a skill's name in its path."""

    source: Source
    root: Path
    folder: str
    shown: str
    reserved: frozenset[str] = frozenset()


def places(vault: Path, package: Path) -> tuple[Place, ...]:
    """The three places, in the order in which they go before one another."""
    return (
        Place(Source.VAULT, vault, SKILLS.rstrip("/"), SKILLS.rstrip("/"), RESERVED),
        Place(Source.LEARNED, vault, LEARNED.rstrip("/"), LEARNED.rstrip("/")),
        Place(Source.PACKAGE, package, "", str(package)),
    )


@dataclass(frozen=True, slots=True)
class Shelf:
    """All skills at one moment. `skills` has every one that can be used; of several with one name, the first that was
    reviewed is the one that is meant, else the first of them."""

    skills: tuple[Skill, ...]
    problems: tuple[Problem, ...]
    named: Mapping[str, Skill]
    candidates: tuple[Skill, ...] = field(init=False, compare=False, repr=False)
    """The skills without those that another of the same name goes before, but for what nobody has looked at."""
    patterns: Together = field(init=False, compare=False, repr=False)
    """All patterns of the candidates."""

    def __post_init__(self) -> None:
        found = tuple(skill for skill in self.skills if not skill.reviewed or self.named[skill.name] is skill)
        told = [skill.triggers for skill in found if skill.triggers is not None]
        every = Together.of(pattern for each in told for pattern in each.every)
        object.__setattr__(self, "candidates", found)
        object.__setattr__(self, "patterns", every)

    def get(self, name: str) -> Skill | None:
        """The skill that is meant by a name."""
        return self.named.get(name)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One folder as it was read. `hashes` are those of its files, where they were wanted."""

    stamp: tuple[tree.File, ...]
    skill: Skill | None
    problems: tuple[Problem, ...]
    data: bytes = b""
    hashes: Mapping[str, str] | None = None


@dataclass(slots=True)
class Library:
    """The skills of one vault; may be asked by several threads. `passes` counts how often it looked at the disk."""

    places: tuple[Place, ...]
    pins: Pins
    passes: int = 0
    reads: int = 0
    _loaded: dict[tuple[Source, str], _Loaded] = field(default_factory=dict)
    _overflow: dict[Source, Problem] = field(default_factory=dict)
    _dirty: set[tuple[Source, str]] = field(default_factory=set)
    _whole: bool = True
    _pins_at: int = -1
    _shelf: Shelf | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def changed(self, paths: Iterable[str]) -> None:
        """These files of the vault have changed: read the skills they belong to again before the next use."""
        with self._lock:
            for path in paths:
                parts = path.split("/")
                if not path.startswith(SKILLS):
                    continue
                if path.startswith(LEARNED):
                    self._dirty.add((Source.LEARNED, parts[2]))
                elif parts[1] not in RESERVED:
                    self._dirty.add((Source.VAULT, parts[1]))
                else:
                    self._whole = True

    def refresh(self) -> None:
        """Look at all folders again before the next use; only what has changed is read."""
        with self._lock:
            self._whole = True

    def shelf(self) -> Shelf:
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
            loaded = self._hashed(next(each for each in self.places if each.source is skill.source), skill.name)
            return loaded.hashes or {}

    def file(self, skill: Skill, path: str) -> tuple[bytes, bool]:
        """A file that lies beside a skill, and whether it is what was reviewed.

        Raises `BadFolder` for one that the skill does not have or that is too long to be read, and `OSError`.
        """
        place = next(each for each in self.places if each.source is skill.source)
        if path not in skill.files:
            raise tree.BadFolder(f"{skill.name} has no file {ascii(path)[1:-1]}")
        data = tree.read(place.root, f"{place.folder}/{skill.name}", path, FILE_BYTES)
        pin = self.pins.get(skill.key)
        same = pin is not None and pin.files.get(path) == sha256(data).hexdigest()
        return data, skill.source is Source.PACKAGE or (skill.reviewed and same)

    def review(self, skill: Skill, when: datetime, how: str) -> Pin:
        """Trust a skill as it was read. Raises `BadFolder` or `OSError` when its files cannot be read."""
        pin = Pin(skill.key, self.hashes(skill), skill.size, when, how)
        self.pins.put(pin)
        self.refresh()
        return pin

    def carry(self, edited: Mapping[str, Edit], when: datetime) -> tuple[str, ...]:
        """Keep trusting skills whose owner has just edited these files by hand here, and no others; returns the names.

        For skills that were trusted as they were before the edit and in which nothing else has changed. What a pull, a
        checkout or another program brings as a commit is nobody's edit; and what was asked about, because something
        else has changed it, is still asked about after an edit.
        """
        self.refresh()
        kept = []
        for skill in self.shelf().skills:
            pin = None if skill.source is Source.PACKAGE or skill.reviewed else self.pins.get(skill.key)
            asked = asked_about(self.pins, skill.key)
            if pin is None or (asked is not None and not asked.is_answered_by(pin)):
                continue
            folder = skill.path.removesuffix(FILE)
            now = self.hashes(skill)
            changed = {path: Edit(pin.files.get(path), now.get(path)) for path in pin.changed(now)}
            if changed and all(edited.get(f"{folder}{path}") == edit for path, edit in changed.items()):
                self.pins.put(carried := Pin(skill.key, now, skill.size, when, "edited by hand"))
                if asked is not None:
                    replace(asked, digest=carried.digest).keep(self.pins)
                kept.append(skill.name)
        return tuple(kept)

    def _look(self, *, everything: bool) -> None:
        """Read what has changed, or what may have."""
        if not everything:
            dirty, self._dirty = self._dirty, set()
            for place in self.places:
                there = set(tree.names(place.root, place.folder)) if any(s is place.source for s, _ in dirty) else set()
                for _, name in sorted(key for key in dirty if key[0] is place.source):
                    self._load(place, name, there=name in there and name not in place.reserved)
            return
        self._dirty, self._whole = set(), False
        for place in self.places:
            found = [name for name in tree.names(place.root, place.folder) if name not in place.reserved]
            self._overflow.pop(place.source, None)
            if len(found) > MOST:
                reason = f"only the first {MOST:,} of {len(found):,} folders are read; move some of them away"
                self._overflow[place.source] = Problem(place.shown, 1, reason)
            known = {name for source, name in self._loaded if source is place.source}
            for name in sorted(known | set(found[:MOST])):
                self._load(place, name, there=name in found[:MOST])

    def _load(self, place: Place, name: str, *, there: bool) -> None:
        key = (place.source, name)
        if not there:
            self._loaded.pop(key, None)
            return
        folder = f"{place.folder}/{name}"
        shown = f"{place.shown}/{ascii(name)[1:-1] if not name.isprintable() else name}/{FILE}"
        try:
            found = tree.listing(place.root, folder)
        except (tree.BadFolder, OSError) as error:
            self._loaded[key] = _Loaded((), None, (Problem(shown, 1, _words(error)),))
            return
        before = self._loaded.get(key)
        if before is not None and before.stamp == found.files != ():
            return
        self.reads += 1
        self._loaded[key] = _read(place, name, shown, found)

    def _hashed(self, place: Place, name: str) -> _Loaded:
        """The folder with its hashes; raises `BadFolder` when it is not what was read any more."""
        loaded = self._loaded[place.source, name]
        if loaded.hashes is not None:
            return loaded
        folder = f"{place.folder}/{name}"
        found = tree.listing(place.root, folder)
        hashes = tree.hashes(place.root, folder, found, {FILE: loaded.data})
        if found.files != loaded.stamp or tree.listing(place.root, folder).files != loaded.stamp:
            self._whole = True
            raise tree.BadFolder(f"the files of {name} have just changed; look at them again")
        self._loaded[place.source, name] = replace(loaded, hashes=hashes)
        return self._loaded[place.source, name]

    def _assemble(self) -> Shelf:
        skills: list[Skill] = []
        problems: list[Problem] = list(self._overflow.values())
        for place in self.places:
            for (source, name), loaded in sorted(self._loaded.items()):
                if source is place.source:
                    problems += loaded.problems
                    skills += [self._judged(place, name, loaded.skill)] if loaded.skill is not None else []
        good: list[Skill] = []
        meant = _meant(skills)
        kept, flawed = chain.check(meant)
        problems += flawed
        for skill in skills:
            if meant[skill.name] is skill:
                good += [skill] if skill.name in kept else []
                continue
            found = list(chain.flaws(skill, kept.get))
            problems += [Problem(skill.path, skill.lines.get(flaw.key, 1), flaw.reason) for flaw in found]
            good += [] if found else [skill]
        return Shelf(tuple(good), tuple(problems), _meant(good))

    def _judged(self, place: Place, name: str, skill: Skill) -> Skill:
        """The skill with whether somebody here has looked at exactly these files."""
        if place.source is Source.PACKAGE:
            return replace(skill, reviewed=True)
        pin = self.pins.get(skill.key)
        if pin is None or pin.size != skill.size:
            return skill
        try:
            found = tree.digest(self._hashed(place, name).hashes or {})
        except (tree.BadFolder, OSError):
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


def _read(place: Place, name: str, shown: str, found: tree.Listing) -> _Loaded:
    """A folder's skill, with what is wrong with it."""
    links = tuple(Problem(shown, 1, f"{path} is a link or no file, and left out") for path in found.strange)
    beside = tuple(file.path for file in found.files if file.path != FILE)
    if not found.files:
        return _Loaded((), None, links)  # what git leaves of a skill that was moved away
    if len(beside) == len(found.files):
        other = next((path for path in beside if path.lower() == FILE.lower()), "")
        reason = f"{other} must be called {FILE}" if other else bad_name(name) or f"there is no {FILE} in this folder"
        return _Loaded(found.files, None, (*links, Problem(shown, 1, reason)))
    try:
        data = tree.read(place.root, f"{place.folder}/{name}", FILE, FILE_BYTES)
    except (tree.BadFolder, OSError) as error:
        return _Loaded(found.files, None, (*links, Problem(shown, 1, _words(error))))
    read = read_skill(data, Where(name, place.source, shown, beside, found.size))
    return _Loaded(found.files, read.skill, (*links, *read.problems), data)


def _words(error: Exception) -> str:
    return str(error.strerror or error).lower() if isinstance(error, OSError) else str(error)
