"""The harness's own record of what was asked, what was acknowledged and what people saved.

Every line is flushed to disk before the next step, so that a kill cannot take it. The product never sees it.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

Texts = Mapping[str, str | None]
"""Paths, each with the text it is to have; None: no file."""


@dataclass(frozen=True, slots=True)
class Line:
    """One step: `kind` says what happened, `id` to what, `files` what the files are to be afterwards."""

    kind: str
    id: str
    files: dict[str, str | None] = field(default_factory=dict)
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """A file of lines; several processes may add to it, one at a time."""

    path: Path

    def add(self, kind: str, identity: str, files: Texts | None = None, commit: str = "") -> None:
        """Write a line; on disk when this returns."""
        line = {"kind": kind, "id": identity, "files": dict(files or {}), "commit": commit}
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, f"\n{json.dumps(line)}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def lines(self) -> list[Line]:
        """Every whole line so far."""
        if not self.path.exists():
            return []
        found = []
        for raw in self.path.read_bytes().split(b"\n"):
            if raw.endswith(b"}"):
                line = json.loads(raw)
                found.append(Line(line["kind"], line["id"], line["files"], line["commit"]))
        return found
