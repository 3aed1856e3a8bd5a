"""The spend ledger: a file of lines for each day, that tells what every call of a model was allowed and what it cost.

A call's reservation is on the disk before the call is made, so that a kill in between leaves it standing as spent.
Several processes and threads share one folder; it lies outside the vault. What the ceilings are is `spend`'s.
"""

import json
import math
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, date
from pathlib import Path
from zlib import crc32

from agent.clock import Clock
from agent.config.lock import hold
from agent.config.private import make_folder, replace
from agent.errors import LockHeld, Permanent
from agent.llm.messages import Usage

PATIENCE = 10.0
"""Seconds to wait for another process that writes to the ledger. A line takes milliseconds."""
_FORGIVEN = 3
"""Damaged lines that a file may hold without having more sound ones: a kill leaves one at most."""


@dataclass(frozen=True, slots=True)
class SpendScope:
    """On whose account a call is: a run with all its sub-runs, and the job that started it, if one did."""

    run: str
    job: str = ""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One call. While it is `open` the figures are what was reserved, afterwards what was used. `money` in US dollars,
    None where the model has no known price."""

    id: str
    scope: SpendScope
    model: str
    usage: Usage
    money: float | None
    open: bool = True


@dataclass(frozen=True, slots=True)
class SpendTotals:
    """Calls added up. `open` calls count with what was reserved for them; `unpriced` ones count in tokens only.

    `damaged` counts lines of the ledger that could not be read: the rest is what is certain.
    """

    calls: int = 0
    usage: Usage = Usage()
    money: float = 0.0
    open: int = 0
    unpriced: int = 0
    damaged: int = 0

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.usage.input + self.usage.output


def add_up(entries: Iterable[LedgerEntry], damaged: int = 0) -> SpendTotals:
    """The totals of these calls."""
    calls = tokens_in = tokens_out = cached = written = still_open = unpriced = 0
    money = 0.0
    for entry in entries:
        calls += 1
        tokens_in += entry.usage.input
        tokens_out += entry.usage.output
        cached += entry.usage.cached
        written += entry.usage.written
        still_open += entry.open
        if entry.money is None:
            unpriced += 1
        else:
            money += entry.money
    return SpendTotals(calls, Usage(tokens_in, tokens_out, cached, written), money, still_open, unpriced, damaged)


@dataclass(slots=True)
class _Day:
    """One day's file as far as it has been read: to `offset`, a line's end, of the file with this `inode`."""

    path: Path
    inode: int = 0
    offset: int = 0
    damaged: int = 0
    entries: dict[str, LedgerEntry] = field(default_factory=dict)


class Ledger:
    """The ledger in `folder`, made when first written to. Reads only what is new; may be used from several threads."""

    def __init__(self, folder: Path, clock: Clock, *, durable: bool = True) -> None:
        self._folder = folder
        self._clock = clock
        self._durable = durable
        self._mutex = threading.Lock()
        self._days: dict[str, _Day] = {}

    def today(self) -> date:
        """The date in UTC, to which a call that is made now belongs.

        Not the local one: a process with another `TZ` would have a day, and a day's ceiling, of its own.
        """
        return self._clock.now().astimezone(UTC).date()

    @contextmanager
    def exclusive(self) -> Iterator["Page"]:
        """Hold the ledger against all other threads and processes, to look and then write.

        Raises `LockHeld` when another process does not let go, `Permanent` when the ledger cannot be used: then
        nothing is known about what was spent, and nothing more should be.
        """
        with self._mutex, ExitStack() as stack:
            self._lock(stack)
            yield Page(self)

    def totals(self, day: date, *, job: str = "") -> SpendTotals:
        """All calls of a day, or those of one job on it; raises `Permanent` for a ledger that cannot be read."""
        with self._mutex:
            return self._of_day(day, job)

    def totals_of(self, run: str) -> SpendTotals:
        """All calls of a run and its sub-runs, whichever days they were on; raises `Permanent`."""
        with self._mutex:
            return self._of_run(run)

    def _of_day(self, day: date, job: str = "") -> SpendTotals:
        read = self._read(self._folder / f"{day.isoformat()}.jsonl")
        return add_up((each for each in read.entries.values() if not job or each.scope.job == job), read.damaged)

    def _of_run(self, run: str) -> SpendTotals:
        paths = (path for path in self._files() if path.name in self._days or self._mentions(path, run))
        days = [self._read(path) for path in paths]
        entries = (entry for day in days for entry in day.entries.values() if entry.scope.run == run)
        return add_up(entries, sum(day.damaged for day in days))

    def _files(self) -> list[Path]:
        try:
            return sorted(path for path in self._folder.iterdir() if path.suffix == ".jsonl")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unusable(self._folder, error) from error

    def _mentions(self, path: Path, run: str) -> bool:
        """Whether the file has the run's name in it; a quick look, so that old days need not be understood."""
        try:
            return json.dumps(run).encode() in path.read_bytes()
        except OSError as error:
            raise _unusable(path, error) from error

    def _read(self, path: Path) -> _Day:
        """The day's entries, after reading what was added since the last time."""
        day = self._days.setdefault(path.name, _Day(path))
        written = _written(path)  # before the file, to which others may add meanwhile
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != day.inode or status.st_size < day.offset:
                    day = self._days[path.name] = _Day(path, status.st_ino)
                file.seek(day.offset)
                data = file.read()
        except FileNotFoundError:
            self._days.pop(path.name)
            _check_length(path, 0, written)
            return _Day(path)
        except OSError as error:
            raise _unusable(path, error) from error
        _check_length(path, status.st_size, written)
        whole = data.rfind(b"\n") + 1
        for line in data[:whole].split(b"\n"):
            _take(day, line)
        day.offset += whole
        if day.damaged > max(len(day.entries), _FORGIVEN):
            raise _damaged(path, f"{day.damaged} lines of it cannot be read")
        return day

    def _write(self, name: str, line: dict[str, object]) -> None:
        path = self._folder / f"{name}.jsonl"
        line["crc"] = _crc(line)
        data = json.dumps(line, ensure_ascii=True, allow_nan=False).encode() + b"\n"
        try:
            fresh = not path.exists()
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                _append(descriptor, data)
                if self._durable:
                    os.fsync(descriptor)
                replace(_length(path), str(os.fstat(descriptor).st_size))
            finally:
                os.close(descriptor)
            if fresh and self._durable:
                _flush_folder(self._folder)
        except OSError as error:
            raise _unusable(path, error) from error

    def _lock(self, stack: ExitStack) -> None:
        path = self._folder / "ledger.lock"
        try:
            make_folder(self._folder)
            held = stack.enter_context(hold(path, self._clock, PATIENCE))
        except OSError as error:
            raise _unusable(path, error) from error
        if held is None:
            raise LockHeld(f"another process holds the spend ledger {path}", hint="end it, or try again")


@dataclass(frozen=True, slots=True)
class Page:
    """The ledger while it is held."""

    ledger: Ledger

    def totals(self, day: date) -> SpendTotals:
        """As `Ledger.totals`."""
        return self.ledger._of_day(day)

    def totals_of(self, run: str) -> SpendTotals:
        """As `Ledger.totals_of`."""
        return self.ledger._of_run(run)

    def write(self, day: date, entry: LedgerEntry) -> None:
        """Add a line to a day's file, durable when this returns; raises `Permanent` when that does not work."""
        usage = entry.usage
        self.ledger._write(
            day.isoformat(),
            {
                ("reserved" if entry.open else "used"): entry.id,
                "run": entry.scope.run,
                "job": entry.scope.job,
                "model": entry.model,
                "input": usage.input,
                "output": usage.output,
                "cached": usage.cached,
                "written": usage.written,
                "money": entry.money,
            },
        )


def _take(day: _Day, line: bytes) -> None:
    """Enter one line; what was used replaces what was reserved, whichever comes first."""
    if not line.strip():
        return
    entry = _entry(line)
    if entry is None:
        day.damaged += 1
    elif not entry.open or entry.id not in day.entries:
        day.entries[entry.id] = entry


def _entry(line: bytes) -> LedgerEntry | None:
    """The entry on a line, None where the line does not hold one."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    if "crc" in said and said.pop("crc") != _crc(said):
        return None
    words = [said.get("reserved", said.get("used")), said.get("run"), said.get("job"), said.get("model")]
    counts = [said.get(name) for name in ("input", "output", "cached", "written")]
    money = said.get("money")
    if not all(isinstance(word, str) for word in words) or not all(type(n) is int and n >= 0 for n in counts):
        return None
    if money is not None and not (isinstance(money, int | float) and math.isfinite(money) and money >= 0):
        return None
    identity, run, job, model = (str(word) for word in words)
    usage = Usage(*(int(n) for n in counts if n is not None))
    dollars = None if money is None else float(money)
    return LedgerEntry(identity, SpendScope(run, job), model, usage, dollars, open="reserved" in said)


def _crc(line: dict[str, object]) -> int:
    """The checksum of a line's other fields; lines of older versions have none."""
    return crc32(json.dumps(line, ensure_ascii=True, sort_keys=True).encode())


def _length(path: Path) -> Path:
    """The file beside a day's file that says how long that one is at least."""
    return path.with_suffix(".length")


def _written(path: Path) -> int:
    """How long a day's file is at least; 0 where that is not known, so that it is counted as it is."""
    try:
        return int(_length(path).read_text("ascii"))
    except (OSError, ValueError):
        return 0


def _check_length(path: Path, size: int, written: int) -> None:
    """Raises `Permanent` for a day's file that has lost what was written to it."""
    if size < written:
        raise _damaged(path, f"{written - size} bytes of it are gone")


def _damaged(path: Path, what: str) -> Permanent:
    return Permanent(
        f"{path} is damaged: {what}, so what was spent is not known",
        hint=f"look at it, then move it away, and {_length(path).name} beside it, to begin the day's count anew",
    )


def _append(descriptor: int, data: bytes) -> None:
    """Write a line at the end, on a line of its own even where a kill cut the last one short."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        data = b"\n" + data
    while data:
        data = data[os.write(descriptor, data) :]


def _flush_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot; the line itself is on the disk
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _unusable(path: Path, error: OSError) -> Permanent:
    return Permanent(
        f"the spend ledger {path} cannot be used: {(error.strerror or str(error)).lower()}",
        hint="make it readable and writable: no model is called while what was spent is not known",
    )
