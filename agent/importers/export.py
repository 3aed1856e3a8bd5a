"""The files of an export: of a folder, an archive (zip), or the one file that it is.

An archive comes from elsewhere: what it says of names, links, sizes and encodings is checked before anything is read,
and nothing is unpacked onto the disk but archives in it, into files without a name. Links are never followed.
"""

import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, cast

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.importers.values import ImportedFile, LeftItem, LeftReason

MOST_FILES = 200_000
MOST_TIMES = 100
"""How many times its size an archive may unpack to, once that is more than `SMALL`: exports do about 10 times."""
SMALL = 1 << 30
"""Bytes that any archive may unpack to."""
LARGEST_TEXT = 64 << 20
"""Bytes of a file that is read at once."""
_JUNK = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini"})
_CHUNK = 1 << 20
_UTF8 = 0x800
_ENCRYPTED = 0x1
_ENCODINGS = ("utf-8", "gb18030")
"""The encodings that are tried for names whose archive names none."""


@dataclass(frozen=True, slots=True)
class ExportFile:
    """One file: `name` is its path in the export, `size` is in bytes. `modified` is None where an archive says none."""

    name: str
    size: int
    modified: datetime | None
    open: Callable[[], BinaryIO]

    def read(self) -> bytes:
        """The bytes; raises `UserError` for a file that is larger than `LARGEST_TEXT`."""
        if self.size > LARGEST_TEXT:
            raise UserError(
                "{name} is larger than {count} MB", hint="split it", name=self.name, count=LARGEST_TEXT >> 20
            )
        with self.open() as stream:
            return stream.read(LARGEST_TEXT + 1)

    @property
    def attachment(self) -> ImportedFile:
        """The file as one that is kept beside the notes."""
        return ImportedFile(self.name, self.name.rpartition("/")[2], self._whole, self.size)

    def _whole(self) -> bytes:
        """The bytes, as `read`; raises `UserError` also for a file that is damaged or may not be read."""
        try:
            return self.read()
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise UserError("{name} cannot be read", hint="export it again", name=self.name) from error


@dataclass(frozen=True, slots=True)
class Export:
    """The files of an export by their names, in their order; `left` is what in it is no file that can be read."""

    path: Path
    files: Mapping[str, ExportFile]
    left: tuple[LeftItem, ...] = ()
    top: str = ""
    """The folder, with its slash, in which all files of an archive lie; empty for a folder that the person chose."""

    def named(self, *names: str) -> list[ExportFile]:
        """The files with one of these last names, in any folder."""
        wanted = {name.casefold() for name in names}
        return [each for name, each in self.files.items() if name.rpartition("/")[2].casefold() in wanted]

    def ending(self, *endings: str) -> list[ExportFile]:
        """The files whose names end so."""
        return [each for name, each in self.files.items() if name.casefold().endswith(endings)]


def common_folder(names: Sequence[str]) -> str:
    """The folder in which all of these lie, with its slash; empty for the top."""
    shared = list[str]()
    for level in zip(*(name.split("/")[:-1] for name in names), strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return "".join(f"{each}/" for each in shared)


@contextmanager
def open_export(path: Path) -> Iterator[Export]:
    """Open an export for the length of the block; raises `UserError` for one that cannot be read or is not safe."""
    with ExitStack() as stack:
        if path.is_dir():
            found = _of_folder(path)
        elif zipfile.is_zipfile(path):
            found = _of_archive(path, stack)
        else:
            about = path.stat()
            single = ExportFile(path.name, about.st_size, _time(about.st_mtime), lambda: path.open("rb"))
            found = Export(path, {path.name: single})
        yield found


def _of_folder(path: Path) -> Export:
    files, left = dict[str, ExportFile](), list[LeftItem]()
    for place, folders, names in os.walk(path, onerror=_unreadable):
        folders[:] = sorted(each for each in folders if not _is_junk(each))
        for name in sorted(names):
            inside = (Path(place) / name).relative_to(path).as_posix()
            about = (Path(place) / name).lstat()
            if _is_junk(name):
                continue
            if not stat.S_ISREG(about.st_mode):
                left.append(LeftItem(inside, LeftReason.LINK))
            elif not _is_text(inside):
                left.append(LeftItem(ascii(inside), LeftReason.NAME))
            else:
                files[inside] = ExportFile(inside, about.st_size, _time(about.st_mtime), _opener(Path(place) / name))
        _check_count(len(files))
    return Export(path, files, tuple(left))


def _unreadable(error: OSError) -> None:
    raise UserError("{name} cannot be read", hint="name a file that you may read", name=error.filename) from error


def _opener(path: Path) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb")

    return opened


def _of_archive(path: Path, stack: ExitStack) -> Export:
    files, left = dict[str, ExportFile](), list[LeftItem]()
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
    budget = _Budget(max(SMALL, size * MOST_TIMES))
    outer = stack.enter_context(_archive(path, path.name))
    for info in outer.infolist():
        if info.filename.casefold().endswith(".zip") and not info.is_dir() and not _is_junk_path(info.filename):
            _check_member(info, path.name, budget)
            inner = stack.enter_context(_archive(_unpacked(outer, info, stack), info.filename))
            _add(inner, info.filename, files, left, budget)
    _add(outer, path.name, files, left, budget)
    return Export(path, files, tuple(left), common_folder(list(files)))


@dataclass(slots=True)
class _Budget:
    """The bytes that an archive may still unpack to."""

    left: int
    files: int = field(default=0)


def _add(
    archive: zipfile.ZipFile, of: str, files: dict[str, ExportFile], left: list[LeftItem], budget: _Budget
) -> None:
    for info in archive.infolist():
        name = _name(info)
        if info.is_dir() or _is_junk_path(name) or name.casefold().endswith(".zip"):
            continue
        _check_member(info, of, budget)
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            left.append(LeftItem(name, LeftReason.LINK))
        elif not _is_text(name) or ".." in name.split("/") or name.startswith("/") or name[1:2] == ":":
            left.append(LeftItem(name.encode("utf-8", "backslashreplace").decode(), LeftReason.NAME))
        else:
            files[name] = ExportFile(name, info.file_size, _date(info), _member(archive, info))


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    return lambda: cast(BinaryIO, archive.open(info))


def _archive(file: Path | BinaryIO, name: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise UserError("{name} is no archive that can be read", hint="download it again", name=name) from error


def _check_member(info: zipfile.ZipInfo, of: str, budget: _Budget) -> None:
    """Count a member; raises `UserError` for one with a password, and for an archive that unpacks to too much."""
    if info.flag_bits & _ENCRYPTED:
        raise UserError("{name} is locked with a password", hint="unpack it, and import the folder", name=of)
    budget.left -= info.file_size
    budget.files += 1
    if budget.left < 0:
        raise UserError(
            "{name} unpacks to far more than an export does; nothing of it is read",
            hint="if you trust it, unpack it and import the folder",
            name=of,
        )
    _check_count(budget.files)


def _check_count(count: int) -> None:
    if count > MOST_FILES:
        raise UserError("there are more than {count} files", hint="import its folders one by one", count=MOST_FILES)


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, stack: ExitStack) -> BinaryIO:
    """An archive in the archive, in a file without a name."""
    file = stack.enter_context(TemporaryFile())  # noqa: SIM115 - closed with the source
    with archive.open(info) as stream:
        while piece := stream.read(_CHUNK):
            file.write(piece)
    file.seek(0)
    return cast(BinaryIO, file)


def _name(info: zipfile.ZipInfo) -> str:
    """A member's name, with slashes; without the mark for UTF-8 it may be in any encoding."""
    name = info.filename.replace("\\", "/")
    if info.flag_bits & _UTF8 or name.isascii():
        return name
    raw = name.encode("cp437", "replace")
    for encoding in _ENCODINGS:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return name


def _date(info: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*info.date_time, tzinfo=UTC) if info.date_time[0] > 1980 else None
    except ValueError:
        return None


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _is_text(name: str) -> bool:
    return name.isprintable()


def _is_junk(name: str) -> bool:
    return name.startswith(".") or name in _JUNK


def _is_junk_path(name: str) -> bool:
    return any(_is_junk(part) for part in name.split("/") if part not in ("..", "."))
