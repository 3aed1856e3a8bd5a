"""The extracted texts of attachments, each extracted once and kept by the hash of its file. May be deleted at any
moment.

Which files are attachments, by the endings of their names.
"""

from collections.abc import Collection
from contextlib import closing, nullcontext, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from zlib import crc32

from agent.attachments.readers import ENDINGS
from agent.config.private import make_folder, replace_bytes
from agent.dataclass import dataclass
from agent.lazy import later
from agent.markdown.paged_text import PagedText, parse_paged_text

if TYPE_CHECKING:
    from agent.attachments.extract import Extractor
else:  # most texts are kept already
    Extractor = later("agent.attachments.extract", "Extractor")

PLAIN = frozenset({".txt", ".csv", ".tsv", ".canvas", ".base"})
"""Text that tools also read as it is, and change, if it is UTF-8."""


def ending_of(path: str) -> str:
    """The ending of a name, in lower case, with its point."""
    return PurePosixPath(path).suffix.lower()


def is_attachment(path: str) -> bool:
    """True if the text of this file can be extracted."""
    return ending_of(path) in ENDINGS


VERSION = 1
"""The version of what the readers find; texts of another one are extracted anew."""
_CHECKSUM = 8


@dataclass(frozen=True, slots=True)
class ExtractedTexts:
    """The texts; `folder` is where they are kept, None for nowhere. `largest` is the size in bytes of the largest file
    that is read. `extractor` has a process that reads many files, and is closed by its owner; None: each file is read
    by one that ends with it."""

    folder: Path | None = None
    largest: int = 50_000_000
    extractor: "Extractor | None" = None

    def text_of(self, path: str, data: bytes, digest: str) -> PagedText:
        """The text of a file with these bytes, whose content hash is `digest`; without text, with the reason."""
        if len(data) > self.largest:
            return self.too_large()
        name = f"{digest}{ending_of(path)}"
        cached = self._cached(name)
        if cached is not None:
            return cached
        with nullcontext(self.extractor) if self.extractor is not None else closing(Extractor()) as extractor:
            found = extractor.extract(ending_of(path), data)
        self._keep(name, found)
        return found

    def too_large(self) -> PagedText:
        """What is known of a file that is not read."""
        return PagedText(problem=f"it is larger than {self.largest / 1_000_000:g} MB")

    def forget_others(self, digests: Collection[str]) -> None:
        """Delete the texts of all files but those with one of these content hashes."""
        for each in self._place.iterdir() if self.folder is not None and self._place.is_dir() else ():
            if each.name.partition(".")[0] not in digests:
                each.unlink(missing_ok=True)

    @property
    def _place(self) -> Path:
        assert self.folder is not None
        return self.folder / f"v{VERSION}"

    def _cached(self, name: str) -> PagedText | None:
        """The text that is kept, whole; None if there is none."""
        if self.folder is None:
            return None
        try:
            return parse_paged_text(load_checked(self._place / name))
        except ValueError:
            return None

    def _keep(self, name: str, found: PagedText) -> None:
        if self.folder is None:
            return
        keep_checked(self._place / name, found.to_bytes())


def load_checked(path: Path) -> bytes:
    """What `keep_checked` has written; raises `ValueError` if it is not there, or not as it was."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read") from error
    data = content[_CHECKSUM:]
    if int(content[:_CHECKSUM], 16) != crc32(data):
        raise ValueError(f"{path} is damaged")
    return data


def keep_checked(path: Path, data: bytes) -> None:
    """Write a file of the cache with its checksum; on a full disk there is none."""
    with suppress(OSError):
        make_folder(path.parent)
        replace_bytes(path, f"{crc32(data):0{_CHECKSUM}x}".encode() + data)
