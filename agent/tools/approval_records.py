"""The records of the approvals requested on this machine, by the fingerprint of the call.

A note in `approvals/` counts only together with its record: a clone, a pull or a tool can bring a note that looks
approved, but never the record.
"""

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Literal, TypeAlias, cast, get_args

from agent.dataclass import dataclass
from agent.llm.messages import JsonObject
from agent.tools.arguments import canonical
from agent.vault.layout import APPROVAL_RECORDS
from agent.vault.record_folder import RecordFolder
from agent.vault.store import Vault

ApprovalStatus: TypeAlias = Literal["asking", "pending", "approved", "used", "rejected", "expired", "outdated"]
"""`asking`: the note may not be written yet. `outdated`: a note that the call would change has changed since."""


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """One question: the fingerprint of the call (`hash`), its run, its note, and the status.

    `bases` has the content hash at that time of each note that the call would change (empty: no note). `paths` are the
    notes to change or create, `why` is the reason for asking, and `change` is the displayed difference.
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


def fingerprint(tool: str, run: str, arguments: JsonObject) -> str:
    """The SHA-256 of tool, run and exact arguments: an approval is valid only for these."""
    return sha256(canonical({"tool": tool, "run": run, "arguments": arguments}).encode("ascii")).hexdigest()


def approval_records(vault: Vault) -> RecordFolder[ApprovalRecord]:
    """The records of a vault, by fingerprint; writing requires the lock of `approvals`."""
    return RecordFolder(vault.private_folder / APPROVAL_RECORDS, _parse)


def _parse(document: dict[str, object]) -> ApprovalRecord:
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
