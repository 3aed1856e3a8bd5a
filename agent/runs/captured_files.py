"""Files that come from outside of the vault, with captures and with messages, and are kept beside the notes."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.importers.names import FreeNames, safe_name
from agent.texts import Sentence
from agent.vault.change import Stamp
from agent.vault.provenance.marks import new_marks
from agent.vault.receiving.choice import is_display_only
from agent.vault.secrets import introduced
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

FILES = "attachments/"
"""The folder of the vault for them, with one for each month."""
_PICTURE = re.compile(r"!\[\[[^\]]+\.(?:png|jpe?g|gif|webp)\]\]", re.IGNORECASE)
_TYPED = (".md", ".markdown", ".txt", ".canvas", ".base")
"""The endings of files that count as typed by the person, unless it is recorded that they are not."""


@dataclass(frozen=True, slots=True)
class CapturedFile:
    """A file to keep."""

    name: str
    data: bytes


def captured_files(workspace: Workspace, files: Sequence[CapturedFile], now: datetime) -> list[tuple[str, bytes]]:
    """The path and the bytes of each file as it is kept. Raises `UserError` for one that is not: it is too large,
    programs may run it, or it has a secret in it."""
    largest, names = (
        int(workspace.settings.capture.largest_megabytes * 1_000_000),
        FreeNames(workspace.vault.place.root),
    )
    found = list[tuple[str, bytes]]()
    for each in files:
        stem, dot, ending = each.name.rpartition("/")[2].rpartition(".")
        stem, ending = safe_name(workspace.vault.masked(stem) or "file"), ending.lower()
        if not dot or not is_display_only(f"{stem}.{ending}"):
            raise UserError(
                "{name} is of a kind that programs may run", hint="keep a picture or a text", name=each.name
            )
        if len(each.data) > largest:
            hint = "capture.largest_megabytes raises the limit"
            raise UserError("{name} is larger than {count} MB", hint=hint, name=each.name, count=largest // 1_000_000)
        if introduced(b"", each.data):
            raise UserError("{name} holds a secret that history would keep", hint="keep it elsewhere", name=each.name)
        path = names.take(
            f"{FILES}{now:%Y-%m}", f"{now:%Y-%m-%d} {stem}", f".{ending}", f"{now.isoformat()}{each.name}"
        )
        found.append((path, each.data))
    return found


def keep_files(workspace: Workspace, files: Sequence[CapturedFile], source: str, subject: Sentence) -> list[str]:
    """Keep files that came from a `source`, in one commit; returns their paths. Raises as `captured_files` and as a
    transaction do."""
    run, found = workspace.clock.new_id(), captured_files(workspace, files, workspace.clock.now().astimezone())
    note_strangers(workspace.vault, run, found, source)
    with workspace.vault.transaction(subject, Stamp("agent", run=run, tool="keep")) as change:
        for path, data in found:
            change.create(path, data)
    return [path for path, _ in found]


def has_picture(words: str) -> bool:
    """True for a message with a picture of the vault in it, at which the model has to look by itself."""
    return _PICTURE.search(words) is not None


def note_strangers(vault: Vault, run: str, files: Iterable[tuple[str, bytes]], source: str) -> None:
    """Record that texts among these files, which the run is about to write, are a stranger's. Of any other file that is
    so unless the person says that it is theirs."""
    for path, data in files:
        if path.endswith(_TYPED):
            vault.provenance.foreign.add_lines(run, new_marks(data, []), [source])
