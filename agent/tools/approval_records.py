"""The questions for approval that this machine has really asked, one small file each, outside the vault.

A note in `approvals/` counts only together with its record here: a cloned vault, a pull or a tool can bring a note that
looks approved, but never the record. A record is found by what was asked, so that the same call finds it again.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from agent.llm.messages import Object
from agent.tools.arguments import canonical
from agent.vault.durable import replace

ApprovalStatus: TypeAlias = Literal["asking", "pending", "approved", "used", "rejected", "expired", "outdated"]
"""`asking`: the note is not known to be written yet. `outdated`: a note that it would change has changed since."""


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """One question: which call (`hash`), of which run, in which note, and what has become of it.

    `bases` has the content hash of each note that the call would change as it was then (empty: no note). `paths` are
    the notes that it would change or make, `why` says why it asks, and `change` is the difference that was shown.
    """

    id: str
    hash: str
    path: str
    tool: str
    run: str
    session: str
    call: str
    shown: str
    created: datetime
    expires: datetime
    bases: Mapping[str, str]
    status: ApprovalStatus = "asking"
    reason: str = ""
    paths: tuple[str, ...] = ()
    why: str = ""
    change: str = ""


def fingerprint(tool: str, run: str, arguments: Object) -> str:
    """What an approval is bound to: SHA-256 of tool, run and the exact arguments."""
    return sha256(canonical({"tool": tool, "run": run, "arguments": arguments}).encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class ApprovalRecords:
    """The folder of records; who holds the lock of `approvals` may write."""

    folder: Path

    def get(self, fingerprint: str) -> ApprovalRecord | None:
        """The last question about exactly this call; None where there is none, or where it cannot be read."""
        try:
            return _load(json.loads(self._file(fingerprint).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None  # an unreadable record approves nothing: the person is asked anew

    def put(self, asked: ApprovalRecord) -> None:
        """Keep a question; durable when this returns."""
        document = {**asdict(asked), "created": asked.created.isoformat(), "expires": asked.expires.isoformat()}
        replace(self._file(asked.hash), json.dumps(document, indent=1))

    def drop(self, asked: ApprovalRecord) -> None:
        """Forget a question: its note then approves nothing any more."""
        self._file(asked.hash).unlink(missing_ok=True)

    def all(self) -> Iterator[ApprovalRecord]:
        """Every question that can be read, oldest first."""
        files = self.folder.glob("*.json") if self.folder.is_dir() else ()
        found = (self.get(path.stem) for path in files)
        yield from sorted((asked for asked in found if asked is not None), key=lambda asked: asked.id)

    def _file(self, fingerprint: str) -> Path:
        return self.folder / f"{fingerprint}.json"


def _load(document: dict[str, object]) -> ApprovalRecord:
    texts = {name: str(document[name]) for name in ("id", "hash", "path", "tool", "run", "session", "call", "shown")}
    created, expires = (datetime.fromisoformat(str(document[name])) for name in ("created", "expires"))
    bases, paths = document["bases"], document.get("paths", [])
    status = str(document["status"])
    if not isinstance(bases, dict) or not isinstance(paths, list) or status not in get_args(ApprovalStatus):
        raise ValueError("not a record of a question")
    known = {str(path): str(base) for path, base in bases.items()}
    return ApprovalRecord(**texts, created=created, expires=expires, bases=known, status=cast(ApprovalStatus, status),
                 reason=str(document["reason"]), paths=tuple(map(str, paths)), why=str(document.get("why", "")),
                 change=str(document.get("change", "")))  # fmt: skip
