"""The notes that a person keeps from the agent: by patterns (`vault.private`), or by `agent: never` in a header.

The methods of `Vault` go through this: for whoever uses an ordinary vault such a note does not exist. Only what the
owner alone sees, and what keeps versions of files in step, asks `Vault.whole`. The settings are looked at each time, as
the person may add a pattern while a daemon runs. Notes of the agent's own are never private: it needs them.

Reads files of a vault for whoever does not see the private ones: for them such a file is not there.
"""

import errno
import os
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import field
from pathlib import Path
from typing import Protocol

from agent.config.directories import VAULT_FILE
from agent.config.load import load_vault_settings
from agent.dataclass import dataclass
from agent.errors import BadPath, ConfigError, Retryable, UserError
from agent.git.object_ids import LINK
from agent.git.repository import Place
from agent.git.runner import Git
from agent.lazy import only_once
from agent.markdown.keep_out import keeps_agent_out
from agent.vault.worktree.files import Files
from agent.vault.worktree.paths import check_inside, is_note

_HEAD = 1 << 16
"""Bytes of a note that are read to look for its header."""
_PARTS = re.compile(r"\*\*|\*|\?|[^*?]+")
_WILD = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
_Stamp = tuple[int, int, int]


class PathPattern(Protocol):
    """A compiled pattern of RE2, in whose time a pattern from elsewhere cannot stop the program."""

    def fullmatch(self, text: str) -> object | None: ...


def compile_private(setting: str) -> Callable[[str], bool]:
    """What tells if the names in a path are private by the patterns of `vault.private`.

    A pattern without a slash names a note or folder anywhere, one with a slash is a path from the vault's root; a
    folder is meant with all that is in it. `*` is for characters of one name, `**` for any; case does not count.
    """
    found = setting.split("\n" if "\n" in setting else ",")
    patterns = [each.strip() for each in found if each.strip(" /")]
    if not patterns:
        return lambda path: False
    import re2  # type: ignore[import-untyped]  # few vaults have a pattern

    compiled: PathPattern = re2.compile("|".join(map(_expression, patterns)))
    return lambda path: compiled.fullmatch(_folded(path)) is not None


def _expression(pattern: str) -> str:
    import re2

    parts = (_WILD.get(part) or re2.escape(part) for part in _PARTS.findall(_folded(pattern).strip("/")))
    anywhere = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
    return f"(?s:{anywhere}{''.join(parts)}(?:\\.md|/.*)?)"


def _folded(text: str) -> str:
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    return plain.casefold().encode("utf-8", "replace").decode()


@dataclass(slots=True, eq=False)
class PrivateNotes:
    """The private notes of the vault at `root`; `may_be` is False for the paths of the agent's own notes."""

    root: Path
    may_be: Callable[[str], bool]
    _settings: _Stamp | None = None
    _covers: Callable[[str], bool] | None = None
    _headers: dict[str, tuple[_Stamp, bool]] = field(default_factory=dict)
    """What the headers of notes say, while the files are as they were."""

    def cover(self, path: str) -> bool:
        """True if a pattern covers the path, whether a note is there or not."""
        return bool(self.covered((path,)))

    def covered(self, paths: Iterable[str]) -> list[str]:
        """Those of these paths that a pattern covers; the settings are looked at once."""
        stamp = _stamp(f"{self.root}/{VAULT_FILE}")
        if self._covers is None or stamp != self._settings:
            self._covers, self._settings = self._load() or self._covers or compile_private(""), stamp
        covers = self._covers
        return [path for path in paths if covers(path) and self.may_be(path)]

    def have(self, path: str) -> bool:
        """True if a pattern covers the path, or the header of the note that is there now keeps the agent out."""
        return self.cover(path) or self._by_header(path)

    def hide(self, path: str, data: bytes) -> bool:
        """True if a note with these bytes at this path is private."""
        return self.cover(path) or (is_note(path) and keeps_agent_out(data) and self.may_be(path))

    def left_of(self, paths: Iterable[str]) -> list[str]:
        """The paths without those of private notes."""
        return [path for path in paths if not self.have(path)]

    def there_of(self, paths: Iterable[str]) -> list[str]:
        """The same of files that are there: of one that is gone nobody knows what its header said."""
        return [path for path in self.left_of(paths) if os.path.lexists(f"{self.root}/{path}")]

    def _load(self) -> Callable[[str], bool] | None:
        """The patterns that the settings have now; None if nothing can be read, not even what was there before."""
        try:
            return compile_private(load_vault_settings(self.root).settings.vault.private)
        except ConfigError:
            return None

    def _by_header(self, path: str) -> bool:
        if not is_note(path):
            return False
        file = f"{self.root}/{path}"
        stamp = _stamp(file)
        known = self._headers.get(path)
        if stamp is None:
            return known is not None and known[1]  # a note that is gone counts as it was
        if known is None or known[0] != stamp:
            known = self._headers[path] = stamp, self.may_be(path) and _says_never(file)
        return known[1]


class NothingPrivate(PrivateNotes):
    """What the owner sees: all notes."""

    __slots__ = ()

    def covered(self, paths: Iterable[str]) -> list[str]:
        return []

    def have(self, path: str) -> bool:
        return False

    def hide(self, path: str, data: bytes) -> bool:
        return False

    def left_of(self, paths: Iterable[str]) -> list[str]:
        return list(paths)

    def there_of(self, paths: Iterable[str]) -> list[str]:
        return list(paths)


NOTHING_PRIVATE = only_once(lambda: NothingPrivate(Path(), lambda path: False))


def _stamp(file: str) -> _Stamp | None:
    """What differs once a file was written again; None if there is no file."""
    try:
        state = os.lstat(file)
    except (OSError, ValueError):
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino


def _says_never(file: str) -> bool:
    """True if the header of this file keeps the agent out; a link is not followed."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return False
    try:
        return keeps_agent_out(os.read(descriptor, _HEAD))
    except OSError:
        return False
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class PublicFiles:
    """The files of one vault without the private ones."""

    place: Place
    git: Git
    files: Files
    private_notes: PrivateNotes

    def read(self, path: str) -> bytes | None:
        """As `Vault.read`."""
        if self.private_notes.cover(check_inside(path)):
            return None
        try:
            return self._visible(path, self.files.read(path))
        except Retryable:
            return self.read_now(path)

    def read_now(self, path: str) -> bytes | None:
        """As `Vault.read_now`."""
        if self.private_notes.cover(check_inside(path)):
            return None
        found = self.files.read_now(path)
        if found is not None and found[0] == LINK:
            raise BadPath("{path} is a link", hint="links are not followed", path=path)
        return None if found is None else self._visible(path, found[1])

    def glance(self, path: str) -> bytes:
        """As `Vault.glance`."""
        check_inside(path)
        descriptor = os.open(self.place.root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read()
        if self.private_notes.hide(path, data):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return data

    def read_at(self, revision: str, path: str) -> bytes | None:
        """As `Vault.read_at`."""
        check_inside(path)
        command = ["rev-parse", "--verify", "-q", "--end-of-options", f"{revision}^{{commit}}"]
        commit = self.git.run(*command, ok=(0, 1, 128)).decode().strip()
        if not commit:
            raise UserError("there is no commit {revision}", hint="vault-agent log lists them", revision=revision)
        (found,) = self.git.objects([f"{commit}:{self.place.prefix}{path}"])
        if found is None or found.kind != "blob" or self.private_notes.have(path):
            return None
        return self._visible(path, found.data)

    def _visible(self, path: str, data: bytes | None) -> bytes | None:
        return None if data is not None and self.private_notes.hide(path, data) else data
