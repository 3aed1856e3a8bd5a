"""The skills reviewed on this machine, each pinned by the SHA-256 of every file in its folder.

Pins are stored outside the vault, one small file each, so a cloned or pulled vault can bring a skill but never the
permission to use it. Any change to a file makes the skill unreviewed again.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.skills.loading.files import folder_digest
from agent.vault import durable
from agent.vault.store import Vault


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
