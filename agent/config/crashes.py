"""What failed unexpectedly, kept on this machine: types and places in code, never messages, which may quote notes."""

import traceback
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path

_MOST_FILES = 20
_MOST_TIMES = 20
_PACKAGE = Path(__file__).parents[1]
_LIBRARIES = "site-packages"
_SEEN = "seen "


def keep_crash(folder: Path, error: BaseException, when: datetime) -> None:
    """Write down where an error came from; one that came from there before gets only another time.

    A folder that cannot be written to keeps nothing: the error itself is told in any case.
    """
    places = "\n".join(_places(error))
    file = folder / f"{type(error).__name__}-{sha256(places.encode()).hexdigest()[:8]}.txt"
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        earlier = file.read_text("utf-8").splitlines() if file.is_file() else []
        times = [line for line in earlier if line.startswith(_SEEN)][1 - _MOST_TIMES :]
        times.append(f"{_SEEN}{when.isoformat(timespec='seconds')}")
        file.write_text("\n".join([places, *times, ""]), "utf-8")
        for old in _newest_first(folder)[_MOST_FILES:]:
            old.unlink(missing_ok=True)
    except OSError:
        return


def load_crashes(folder: Path) -> tuple[str, ...]:
    """What is kept, the last one first."""
    return tuple(file.read_text("utf-8", "replace").rstrip() for file in _newest_first(folder))


def _newest_first(folder: Path) -> list[Path]:
    found = folder.glob("*.txt") if folder.is_dir() else ()
    return sorted(found, key=lambda file: file.stat().st_mtime_ns, reverse=True)


def _places(error: BaseException) -> Iterator[str]:
    """The type of the error and the frames that it passed, then those of the errors behind it."""
    met: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in met:
        met.add(id(found))
        yield f"{'because of ' if found is not error else ''}{type(found).__module__}.{type(found).__qualname__}"
        for frame in traceback.extract_tb(found.__traceback__, limit=-40):
            yield f"  {_place(Path(frame.filename))}:{frame.lineno} {frame.name}"
        found = found.__cause__ or found.__context__


def _place(file: Path) -> str:
    """The file's path in the package, or in the library that it is of; no path of the machine."""
    if file.is_relative_to(_PACKAGE):
        return (_PACKAGE.name / file.relative_to(_PACKAGE)).as_posix()
    at = max((number for number, part in enumerate(file.parts) if part == _LIBRARIES), default=len(file.parts) - 2)
    return "/".join(file.parts[at + 1 :])
