"""The skills that somebody on this machine has looked at, pinned by the content of their whole folder.

Kept outside the vault, one small file each: a cloned or pulled vault can bring a skill, but never the word that it may
be used. A changed file, however small, makes a skill unreviewed again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.skills.loading.files import folder_digest
from agent.vault import durable
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class Pin:
    """What was looked at: the SHA-256 of each file of a skill (`key`), when, and `how` (by command, by checkbox …)."""

    key: str
    files: Mapping[str, str]
    size: int
    when: datetime
    how: str

    @property
    def digest(self) -> str:
        return folder_digest(self.files)

    def changed(self, now: Mapping[str, str]) -> tuple[str, ...]:
        """The files that are new, gone or different; sorted."""
        return tuple(sorted(path for path in {*self.files, *now} if self.files.get(path) != now.get(path)))


@dataclass(frozen=True, slots=True)
class ReviewPins:
    """The folder of pins of one vault."""

    folder: Path

    def stamp(self) -> int:
        """A number that changes whenever a pin is put or dropped."""
        try:
            return self.folder.stat().st_mtime_ns
        except OSError:
            return 0

    def get(self, key: str) -> Pin | None:
        """The pin of a skill; None where there is none, or where it cannot be read."""
        try:
            return _load(key, json.loads(self._file(key).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None  # what cannot be read trusts nothing

    def put(self, pin: Pin) -> None:
        """Keep a pin; durable when this returns."""
        document = {"files": dict(pin.files), "size": pin.size, "when": pin.when.isoformat(), "how": pin.how}
        durable.replace(self._file(pin.key), json.dumps(document, indent=1))

    def drop(self, key: str) -> None:
        """Trust a skill no more."""
        self._file(key).unlink(missing_ok=True)

    def asked(self, key: str, document: str) -> None:
        """Keep what was asked about a skill on this machine; durable when this returns."""
        durable.replace(self._question(key), document)

    def was_asked(self, key: str) -> str | None:
        """What was asked about a skill here; None for nothing."""
        try:
            return self._question(key).read_text("utf-8")
        except OSError:
            return None

    def questions(self) -> tuple[str, ...]:
        """The keys of the skills that were asked about here and are not settled."""
        return tuple(sorted(file.stem for file in self._question("").parent.glob("*.json")))

    def answered(self, key: str) -> None:
        """The question about a skill is settled."""
        self._question(key).unlink(missing_ok=True)

    def _question(self, key: str) -> Path:
        return self.folder / "asked" / f"{key}.json"

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def pins_of(vault: Vault) -> ReviewPins:
    """The pins of a vault, among its private files."""
    return ReviewPins(vault.writer.layout.folder / "reviewed")


def _load(key: str, document: dict[str, object]) -> Pin:
    files, size = document["files"], document["size"]
    if not isinstance(files, dict) or not isinstance(size, int):
        raise ValueError("not a pin")
    known = {str(path): str(found) for path, found in files.items()}
    return Pin(key, known, size, datetime.fromisoformat(str(document["when"])), str(document["how"]))
