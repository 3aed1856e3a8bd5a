"""The mass-change brake: more notes deleted or emptied than one run may, and a person has to say yes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from agent.errors import MassChange
from agent.markdown.note import Note
from agent.vault.plumbing.git import Git
from agent.vault.write.paths import is_note

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Brake:
    """The limit: the larger of `notes` and `share` of all notes."""

    notes: int = 20
    share: float = 0.05

    def limit(self, total: int) -> int:
        """How many notes may go, out of `total`."""
        return max(self.notes, int(total * self.share))

    def check(self, lost: Iterable[str], earlier: int, total: int, who: str) -> None:
        """Raises `MassChange` when `lost` paths and those the run lost `earlier` are more than the limit."""
        names = sorted(path for path in lost if is_note(path))
        limit = self.limit(total)
        if not names or len(names) + earlier <= limit:
            return
        shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
        raise MassChange(
            f"{who} would delete or empty {len(names) + earlier} of {total} notes; more than {limit} need a yes. "
            f"Nothing was changed: {shown}",
            paths=tuple(names),
            hint="look at the list; repeat the command with --yes if you mean it",
        )


def is_emptied(before: bytes | None, after: bytes | None) -> bool:
    """Whether a note that said something is gone, or is left with nothing but its header."""
    return _says_something(before) and not _says_something(after)


def _says_something(data: bytes | None) -> bool:
    return bool(data) and bool(Note.parse(data or b"").body.strip())


def lost_by(git: Git, run: str) -> int:
    """How many notes the commits of a run have deleted or emptied so far."""
    exactly = re.sub(r"([.\[\]{}()*+?^$|\\])", r"\\\1", run)
    command = [
        "log",
        "-z",
        "--extended-regexp",
        f"--grep=^Vault-Run: {exactly}$",
        "--raw",
        "--no-abbrev",
        "-M",
        "--format=",
    ]
    fields = (
        git.run(*command, "--diff-filter=DM", "--end-of-options", "HEAD", ok=(0, 128))
        .decode("utf-8", "replace")
        .split("\0")
    )
    rows = [field.split(" ") for field in fields if field.startswith(":")]
    pairs = [(row[2], row[3]) for row in rows if len(row) >= 5]
    deleted = sum(1 for _, after in pairs if not after.strip("0"))
    edited = [oid for pair in pairs if pair[1].strip("0") for oid in pair]
    blobs = [found.data if found else None for found in git.objects(edited)] if edited else []
    return deleted + sum(1 for before, after in zip(blobs[::2], blobs[1::2], strict=True) if is_emptied(before, after))
