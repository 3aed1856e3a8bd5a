"""The pictures that lie in a vault: which files they are, which one a link means, and their bytes.

They are found and read by the rules of notes: nothing hidden, nothing through a link, nothing of another repository. A
drawing (SVG) is a document that a program renders, so it is not among what is shown, only among what can be fetched.
"""

from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

from agent.dataclass import dataclass
from agent.errors import BadPath, NoteGone, UserError
from agent.vault.folders import is_hidden
from agent.vault.note_names import NoteNames, path_from
from agent.vault.store import Vault
from agent.vault.worktree.paths import check

SHOWN = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
"""The endings of files that are shown."""
DRAWING = ".svg"
LARGEST = 25_000_000
"""Bytes of a picture at most."""
_BEGINNINGS: Mapping[bytes, str] = MappingProxyType({
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
})  # fmt: skip
_SVG = "image/svg+xml"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture's bytes and its type by what they are, whatever its name says; `is_drawing` for one that is only
    fetched."""

    path: str
    media_type: str
    data: bytes

    @property
    def is_drawing(self) -> bool:
        return self.media_type == _SVG


def is_bitmap(path: str) -> bool:
    """True for the name of a picture that is shown."""
    return PurePosixPath(path).suffix.lower() in SHOWN


def is_drawing(path: str) -> bool:
    """True for the name of a drawing."""
    return PurePosixPath(path).suffix.lower() == DRAWING


def picture_paths(vault: Vault) -> list[str]:
    """All pictures and drawings, tracked or not, without hidden ones and those that git ignores."""
    listed = vault.git.fields("ls-files", "-z", "--cached", "--others", "--exclude-standard", *vault.place.pathspec)
    paths = vault.private_notes.left_of({row.removeprefix(vault.place.prefix) for row in listed})
    return sorted(path for path in paths if (is_bitmap(path) or is_drawing(path)) and not is_hidden(path))


def find_picture(vault: Vault, source: str, target: str) -> str:
    """The path of the picture that a link to `target`, in the note at `source`, means; `target` if there is none."""
    for path in (target, path_from(source, target)):
        if (
            _may_be_read(path) and not vault.private_notes.have(path) and (vault.place.root / path).is_file()
        ):  # git may ignore it
            return path
    return NoteNames.of(picture_paths(vault)).find(source, target) or target


def load_picture(vault: Vault, path: str) -> Picture:
    """The picture at a path; raises `BadPath`, `NoteGone`, and `UserError` for what is none or is too large."""
    check(path)
    if not _may_be_read(path):
        hint = "pictures end in png, jpg, gif, webp or svg, and none of their folders is hidden"
        raise BadPath("{path} is no picture of the vault", hint=hint, path=path)
    vault.check_ours(path)
    data = None if vault.private_notes.have(path) else vault.writer.files.read_at_most(path, LARGEST + 1)
    if data is None:
        hint = "vault-agent log shows what was moved or deleted"
        raise NoteGone("there is no picture {path}", hint=hint, path=path)
    if len(data) > LARGEST:
        raise UserError(
            "{path} is larger than {most} MB", hint="open it with another program", path=path, most=LARGEST // 1_000_000
        )
    media_type = _SVG if is_drawing(path) else _type_of(data)
    if not media_type:
        raise UserError("{path} is no picture by its content", hint="open it with the program that made it", path=path)
    return Picture(path, media_type, data)


def _may_be_read(path: str) -> bool:
    if not (is_bitmap(path) or is_drawing(path)) or is_hidden(path):
        return False
    try:
        check(path)
    except BadPath:
        return False
    return True


def _type_of(data: bytes) -> str:
    """The type by the first bytes; empty for no picture that is shown."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), "")
