"""The folders and files of skills: found, read without following a link, hashed, and pinned as reviewed."""

import errno
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from agent.config import durable
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.markdown.note import Note
from agent.skills.reading.skill import Skill, SkillSource
from agent.texts import ENGLISH, LANGUAGES, Language, text
from agent.vault.folders import (
    AT_ROOT,
    DAILY,
    DEPRECATED,
    FOLDERS,
    LEARNED,
    MUTATIONS,
    RESEARCH,
    SKILL_HISTORY,
    SKILLS,
    TASKS,
    TASKS_DONE,
    AgentFolder,
)
from agent.vault.store import Vault

MOST_FILES = 500
DEEPEST = 6
LARGEST = 64 * 1024 * 1024
"""The most bytes of a whole skill: enough for fonts and templates, too few for a data set."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class BadFolder(ValueError):
    """A folder that cannot be used as a skill; the message is the reason."""


@dataclass(frozen=True, slots=True)
class File:
    """A regular file; `path` is relative to the skill's folder. `stamp` changes with every write."""

    path: str
    size: int
    stamp: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Listing:
    """The regular files of a folder, sorted by path, and the paths left out as links or special files."""

    files: tuple[File, ...]
    strange: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


@contextmanager
def _opened(root: Path, folder: str) -> Iterator[int]:
    """The open folder; raises `BadFolder` if a part of the path is a link or no folder, and `OSError`."""
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in filter(None, folder.split("/")):
            try:
                below = os.open(part, _FOLDER, dir_fd=here)
            except OSError as error:
                if error.errno not in {errno.ELOOP, errno.ENOTDIR}:
                    raise
                raise BadFolder(f"{part} is a link or no folder; links are not followed, copy it instead") from error
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)


def folder_names(root: Path, folder: str) -> list[str]:
    """The names in a folder that are neither regular files nor hidden, sorted; empty if the folder does not exist."""
    try:
        with _opened(root, folder) as here, os.scandir(here) as entries:
            found = [entry.name for entry in entries if not entry.is_file(follow_symlinks=False)]
    except (OSError, BadFolder):
        return []
    return sorted(name for name in found if not name.startswith("."))


def list_files(root: Path, folder: str) -> Listing:
    """The files in a skill's folder that are not hidden; raises `BadFolder`, and `OSError` if it does not exist."""
    files: list[File] = []
    strange: list[str] = []
    with _opened(root, folder) as top:
        _walk(top, "", 1, files, strange)
    if sum(file.size for file in files) > LARGEST:
        raise BadFolder(f"it is larger than {LARGEST // (1 << 20)} MB together")
    return Listing(tuple(sorted(files, key=lambda file: file.path)), tuple(sorted(strange)))


def _walk(here: int, prefix: str, depth: int, files: list[File], strange: list[str]) -> None:
    if depth > DEEPEST:
        raise BadFolder(f"its folders are nested more than {DEEPEST} deep")
    with os.scandir(here) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if len(files) + len(strange) >= MOST_FILES:
                raise BadFolder(f"it has more than {MOST_FILES} files")
            path = prefix + entry.name
            if not path.isprintable():
                strange.append(ascii(path)[1:-1])
            elif entry.is_dir(follow_symlinks=False):
                below = os.open(entry.name, _FOLDER, dir_fd=here)
                try:
                    _walk(below, f"{path}/", depth + 1, files, strange)
                finally:
                    os.close(below)
            elif entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                files.append(File(path, status.st_size, (status.st_ctime_ns, status.st_ino)))
            else:
                strange.append(path)


def read_file(root: Path, folder: str, path: str, longest: int) -> bytes:
    """The bytes of a skill's file; raises `BadFolder` for a link, a special file or a longer one, and `OSError`."""
    above, _, name = path.rpartition("/")
    with _opened(root, f"{folder}/{above}") as here:
        try:
            descriptor = os.open(name, _FILE, dir_fd=here)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise BadFolder(f"{path} cannot be read: {error.strerror}") from error
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise BadFolder(f"{path} is not a plain file")
            data = file.read(longest + 1) if status.st_size <= longest else b""
    if status.st_size > longest or len(data) > longest:
        raise BadFolder(f"{path} has {max(status.st_size, len(data)):,} bytes; at most {longest:,} are allowed")
    return data


def hash_files(root: Path, folder: str, files: Listing, known: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of every file; `known` has the bytes of files already read. Raises `BadFolder` or `OSError`."""
    found = {}
    for file in files.files:
        data = known.get(file.path)
        data = read_file(root, folder, file.path, LARGEST) if data is None else data
        found[file.path] = sha256(data).hexdigest()
    return found


def folder_digest(found: Mapping[str, str]) -> str:
    """One SHA-256 over the names and hashes of a folder's files."""
    lines = (f"{found[path]} {path}\n" for path in sorted(found))
    return sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


RESERVED = frozenset(path[len(SKILLS) : -1] for path in (LEARNED, MUTATIONS, DEPRECATED, SKILL_HISTORY))
"""Folders in a vault's `skills/` that belong to the agent and are not skills."""


@dataclass(frozen=True, slots=True)
class SkillLocation:
    """One folder of skills: `folder` below `root`. `shown` is the prefix of a skill's name in displayed paths."""

    source: SkillSource
    root: Path
    folder: str
    label: str
    reserved: frozenset[str] = frozenset()

    def folder_of(self, name: str) -> str:
        """A skill's folder, below `root`."""
        return f"{self.folder}/{name}"


def skill_locations(vault: Path, package: Path, home: AgentFolder = AT_ROOT) -> tuple[SkillLocation, ...]:
    """The three locations, highest precedence first."""
    own, learned = (home.at(folder).rstrip("/") for folder in (SKILLS, LEARNED))
    return (
        SkillLocation(SkillSource.VAULT, vault, own, own, RESERVED),
        SkillLocation(SkillSource.LEARNED, vault, learned, learned),
        SkillLocation(SkillSource.PACKAGE, package, "", str(package)),
    )


@dataclass(frozen=True, slots=True)
class SkillPath:
    """A path in the vault, split into the skill's source and name, and the `file` in its folder (empty: the folder)."""

    source: SkillSource
    name: str
    file: str


def split_name(name: str) -> SkillPath | None:
    """The parts of the name of a file in a skill's folder (`AgentFolder.name_of`); None for any other file."""
    parts = name.split("/")
    if not name.startswith(SKILLS):
        return None
    if name.startswith(LEARNED):
        return SkillPath(SkillSource.LEARNED, parts[2], "/".join(parts[3:]))
    return None if parts[1] in RESERVED else SkillPath(SkillSource.VAULT, parts[1], "/".join(parts[2:]))


TRANSLATIONS: Mapping[Language, str] = {each: f"SKILL.{each}.md" for each in LANGUAGES if each != ENGLISH}
"""The files beside `SKILL.md` with description and text in other languages."""
_MENTIONED = re.compile(r"\{\{(\w+)\}\}")
_OWN = {"daily": DAILY, "tasks": TASKS, "tasks_done": TASKS_DONE, "research": RESEARCH}
_ALL = "agent_folders"


def in_vault(skill: Skill, translation: bytes | None, home: AgentFolder, language: Language) -> Skill:
    """The skill as it is offered and read in a vault; `translation` is its file in the vault's language, if any."""
    files = tuple(each for each in skill.files if each not in TRANSLATIONS.values())
    description, body, line = skill.description, skill.body, skill.body_line
    if translation is not None:
        note = Note.parse(translation)
        description, body, line = note.string("description") or description, note.body, max(note.body_line, 1)
    body = _MENTIONED.sub(lambda found: _folder(found[1], home, language), body)
    return replace(skill, description=description, body=body.strip("\n"), body_line=line, files=files)


def _folder(name: str, home: AgentFolder, language: Language) -> str:
    """The path of a folder, without a slash at its end, or all folders of the agent's."""
    if name == _ALL:
        folders = (
            [home.path] if home.path else [each.path for each in FOLDERS if each.path.find("/") == len(each.path) - 1]
        )
        return text("skill_folder.comma", language).join(f"`{each}`" for each in folders)
    return home.at(_OWN[name]).rstrip("/") if name in _OWN else text(f"skill_folder.{name}", language)


@dataclass(frozen=True, slots=True)
class Pin:
    """The SHA-256 of each file of a skill (`key`) at its review, and `how` it was reviewed (by command, by checkbox
    …)."""

    key: str
    files: Mapping[str, str]
    size: int
    when: datetime
    how: str

    @property
    def digest(self) -> str:
        return folder_digest(self.files)

    def changed(self, now: Mapping[str, str]) -> tuple[str, ...]:
        """The files that were added, deleted or changed since; sorted."""
        return tuple(sorted(path for path in {*self.files, *now} if self.files.get(path) != now.get(path)))


@dataclass(frozen=True, slots=True)
class ReviewPins:
    """The folder of pins of one vault."""

    folder: Path

    def stamp(self) -> int:
        """A number that changes when a pin is written or deleted."""
        try:
            return self.folder.stat().st_mtime_ns
        except OSError:
            return 0

    def get(self, key: str) -> Pin | None:
        """The pin of a skill; None if there is none or its file cannot be parsed, so that nothing is trusted."""
        try:
            return _parse_pin(key, parse_json(self._file(key).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, pin: Pin) -> None:
        """Write a pin; durable when this returns."""
        document = {"files": dict(pin.files), "size": pin.size, "when": pin.when.isoformat(), "how": pin.how}
        durable.replace(self._file(pin.key), json.dumps(document, indent=1))

    def drop(self, key: str) -> None:
        """Delete a skill's pin, which makes it untrusted."""
        self._file(key).unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def pins_of(vault: Vault) -> ReviewPins:
    """The pins of a vault, in its private folder."""
    return ReviewPins(vault.private_folder / "reviewed")


def _parse_pin(key: str, document: dict[str, object]) -> Pin:
    files, size = document["files"], document["size"]
    if not isinstance(files, dict) or not isinstance(size, int):
        raise ValueError("not a pin")
    known = {str(path): str(digest) for path, digest in files.items()}
    return Pin(key, known, size, datetime.fromisoformat(str(document["when"])), str(document["how"]))
