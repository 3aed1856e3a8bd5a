"""The person's answers about the writers of each remote, stored on this machine and never in the vault.

An answer belongs to an address, not to a remote's name: a remote with a new address has no answer yet. Without an
answer, a remote counts as `Writers.OTHERS`.

What the person has looked at on this machine: contents of notes, in an append-only file that the vault never has.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path

from agent.config import durable
from agent.config.addresses import without_login
from agent.dataclass import dataclass
from agent.git.runner import Git
from agent.json_value import parse_json


@dataclass(slots=True)
class Looks:
    """The person's looks in one vault; the file is read again when it has grown."""

    path: Path
    _known: set[tuple[str, str]] = field(default_factory=set)
    _size: int = -1

    def has(self, path: str, blob: str | None) -> bool:
        """True if the person has looked at this content at this path (None: at its removal)."""
        self._refresh()
        return (path, blob or "") in self._known

    def add(self, path: str, blob: str | None) -> None:
        """Record that the person has looked at this content; durable when this returns."""
        durable.append(self.path, f"\n{json.dumps([path, blob or ''])}\n")

    def _refresh(self) -> None:
        try:
            size = self.path.stat().st_size
            if size == self._size:
                return
            rows = self.path.read_text("utf-8", "replace").split("\n")
        except OSError:
            return
        self._size = size
        self._known = {found for row in rows if (found := _parsed_look(row)) is not None}


def _parsed_look(row: str) -> tuple[str, str] | None:
    """One look; None for a line damaged by a crash: the person is then asked again."""
    try:
        path, blob = parse_json(row)
    except (ValueError, TypeError):
        return None
    return str(path), str(blob)


NOWHERE = ""
"""The address of text that came from no remote known to git."""

_KEY = re.compile(r"(?:SHA256:)?[\w+/=-]{8,128}")


class Writers(StrEnum):
    """The writers of a remote: only this person, or others too."""

    ME = "me"
    OTHERS = "others"


@dataclass(frozen=True, slots=True)
class RemoteAnswers:
    """The writers of each remote by address, and the fingerprints of the person's own signing keys."""

    writers: Mapping[str, Writers]
    keys: frozenset[str] = frozenset()

    def is_mine(self, address: str) -> bool:
        """True if only the person writes there; never for text that came from no remote."""
        return address != NOWHERE and self.writers.get(address) is Writers.ME


@dataclass(slots=True)
class AnswerFile:
    """The file with the answers of one vault; it is read again when it has changed."""

    path: Path
    _known: RemoteAnswers = field(default_factory=lambda: RemoteAnswers({}))
    _stamp: tuple[int, int, int] | None = None

    def load(self) -> RemoteAnswers:
        """The answers; none if the file cannot be read: then all text counts as foreign again."""
        try:
            found = self.path.stat()
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
            if stamp != self._stamp:
                self._known, self._stamp = _parsed(self.path.read_text("utf-8")), stamp
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self._known, self._stamp = RemoteAnswers({}), None
        return self._known

    def answer(self, address: str, writers: Writers) -> None:
        """Record who writes to the remote at this address; durable when this returns."""
        answers = self.load()
        self._save(RemoteAnswers({**answers.writers, address: writers}, answers.keys))

    def drop(self, address: str) -> None:
        """Forget who writes to the remote at this address; durable when this returns."""
        answers = self.load()
        self._save(RemoteAnswers({each: who for each, who in answers.writers.items() if each != address}, answers.keys))

    def add_key(self, fingerprint: str) -> None:
        """Record that commits signed by this key are the person's own; durable when this returns."""
        answers = self.load()
        self._save(RemoteAnswers(answers.writers, answers.keys | {fingerprint}))

    def forget_key(self, fingerprint: str) -> None:
        """Record that what this key signs from now on is anybody's; durable when this returns."""
        answers = self.load()
        self._save(RemoteAnswers(answers.writers, answers.keys - {fingerprint}))

    def _save(self, answers: RemoteAnswers) -> None:
        document = {"writers": dict(answers.writers), "keys": sorted(answers.keys)}
        durable.replace(self.path, json.dumps(document, indent=1))


def _parsed(text: str) -> RemoteAnswers:
    document = parse_json(text)
    writers = {str(address): Writers(each) for address, each in document["writers"].items()}
    return RemoteAnswers(writers, frozenset(str(key) for key in document["keys"]))


def is_fingerprint(text: str) -> bool:
    """True if a text can be the fingerprint of a key."""
    return _KEY.fullmatch(text) is not None


def plain_address(address: str) -> str:
    """The address without a login, a trailing slash or `.git`, for comparison and display."""
    return without_login(address.strip()).rstrip("/").removesuffix(".git") or address.strip()


def configured(git: Git) -> dict[str, str]:
    """The address of each remote in git's settings, by name; of several addresses the first."""
    if git.has_no_remote:
        return {}
    rows = (row.partition("\n") for row in git.fields("config", "-z", "--get-regexp", r"^remote\..*\.url$", ok=(0, 1)))
    found: dict[str, str] = {}
    for key, _, address in rows:
        found.setdefault(key.removeprefix("remote.").removesuffix(".url"), address)
    return found


def addresses(git: Git) -> dict[str, str]:
    """The plain address of each configured remote, by name."""
    return {name: plain_address(address) for name, address in configured(git).items()}
