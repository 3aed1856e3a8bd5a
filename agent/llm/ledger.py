"""The spend ledger: one file a day, with the reservation and the usage of each model call.

A reservation is on disk before the call is made, so after a kill it still counts as spent. Several processes and
threads share one folder outside the vault. The ceilings are left to `spend`.
"""

import json
import math
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field
from datetime import UTC, date
from pathlib import Path
from typing import TypeGuard
from zlib import crc32

from agent.clock import Clock
from agent.config.private import hold, make_folder, replace
from agent.dataclass import dataclass
from agent.errors import LockHeld, Permanent, os_reason
from agent.json_value import parse_json
from agent.llm.messages import Json, Usage, number
from agent.platform.here import platform
from agent.texts import Sentence

PATIENCE = 10.0
"""Seconds to wait for another process that writes to the ledger. A line takes milliseconds."""
_FORGIVEN = 3
"""Damaged lines that a file may hold even if it has fewer valid ones: a kill leaves at most one."""


@dataclass(frozen=True, slots=True)
class SpendScope:
    """The account of a call: a run with all its sub-runs, and the job that started it, if any."""

    run: str
    job: str = ""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One call. While it is `open` the figures are the reservation, afterwards the usage. `money` in US dollars, None
    for a model without a known price."""

    id: str
    scope: SpendScope
    model: str
    usage: Usage
    money: float | None
    open: bool = True


@dataclass(frozen=True, slots=True)
class SpendTotals:
    """A sum of calls. `open` calls count with their reservation; `unpriced` ones count in tokens only.

    `damaged` is the number of ledger lines that could not be parsed and are not in the sum.
    """

    calls: int = 0
    usage: Usage = Usage()
    money: float = 0.0
    open: int = 0
    unpriced: int = 0
    damaged: int = 0

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.usage.input + self.usage.output

    def with_call(self, entry: LedgerEntry) -> "SpendTotals":
        """The calls, tokens and money with one more call."""
        usage = Usage(self.usage.input + entry.usage.input, self.usage.output + entry.usage.output)
        return SpendTotals(self.calls + 1, usage, self.money + (entry.money or 0.0))


def add_up(entries: Iterable[LedgerEntry], damaged: int) -> SpendTotals:
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
    """The parsed part of one day's file: up to `offset`, the end of a line, of the file with this `inode`."""

    path: Path
    inode: int = 0
    offset: int = 0
    damaged: int = 0
    entries: dict[str, LedgerEntry] = field(default_factory=dict)


class Ledger:
    """The ledger in `folder`, which the first write creates. Parses new lines only; safe to use from several
    threads."""

    def __init__(self, folder: Path, clock: Clock, *, durable: bool = True) -> None:
        self._folder = folder
        self._clock = clock
        self._durable = durable
        self._mutex = threading.Lock()
        self._days: dict[str, _Day] = {}

    def today(self) -> date:
        """The current date in UTC, the day of a call made now.

        Not the local date: a process with another `TZ` would have its own day, with its own ceiling.
        """
        return self._clock.now().astimezone(UTC).date()

    @contextmanager
    def exclusive(self) -> Iterator["LockedLedger"]:
        """Lock the ledger against all other threads and processes, for a check followed by a write.

        Raises `LockHeld` when another process keeps the lock, `Permanent` when the ledger cannot be used: then the
        amount spent is unknown, and nothing more should be spent.
        """
        with self._mutex, ExitStack() as stack:
            self._lock(stack)
            yield LockedLedger(self)

    def totals(self, day: date, *, job: str = "") -> SpendTotals:
        """The totals of a day, or of one job on that day; raises `Permanent` for a ledger that cannot be read."""
        with self._mutex:
            return self._of_job(day, job) if job else self._of_day(day)

    def totals_of_jobs(self, day: date, beginning: str = "") -> SpendTotals:
        """The totals of the jobs on a day whose names begin so, of all jobs without one; raises `Permanent`."""
        with self._mutex:
            return self._of_job(day, beginning=beginning)

    def totals_of(self, run: str) -> SpendTotals:
        """The totals of a run and its sub-runs over all days; raises `Permanent`."""
        with self._mutex:
            return self._of_run(run)

    def _of_day(self, day: date) -> SpendTotals:
        read = self._read(self._folder / f"{day.isoformat()}.jsonl")
        return add_up(read.entries.values(), read.damaged)

    def _of_job(self, day: date, job: str = "", beginning: str = "") -> SpendTotals:
        """The totals of one job on a day, or of all jobs whose names begin so."""
        read = self._read(self._folder / f"{day.isoformat()}.jsonl")
        jobs = (each for each in read.entries.values() if each.scope.job and each.scope.job.startswith(beginning))
        return add_up((each for each in jobs if job in {"", each.scope.job}), read.damaged)

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
        """True if the file contains the run's name: a quick search, so that old days need no parsing."""
        try:
            return json.dumps(run).encode() in path.read_bytes()
        except OSError as error:
            raise _unusable(path, error) from error

    def _read(self, path: Path) -> _Day:
        """The day's entries, after parsing the lines added since the last time."""
        day = self._days.setdefault(path.name, _Day(path))
        written = _written(path)  # before the file, to which others may append meanwhile
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
            raise _damaged(path, Sentence("{count} lines of it cannot be read", count=day.damaged))
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
                    platform().flush(descriptor)
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
            raise LockHeld("another process holds the spend ledger {path}", hint="end it, or try again", path=path)


@dataclass(frozen=True, slots=True)
class LockedLedger:
    """The ledger while it is locked."""

    ledger: Ledger

    def totals(self, day: date) -> SpendTotals:
        """The totals of a day; see `Ledger.totals`."""
        return self.ledger._of_day(day)

    def totals_of_job(self, day: date, job: str = "") -> SpendTotals:
        """The totals of one job on a day, or of all jobs; see `Ledger.totals`."""
        return self.ledger._of_job(day, job)

    def totals_of(self, run: str) -> SpendTotals:
        """The totals of a run; see `Ledger.totals_of`."""
        return self.ledger._of_run(run)

    def write(self, day: date, entry: LedgerEntry) -> None:
        """Append a line to a day's file, durable when this returns; raises `Permanent` when that fails."""
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
    """Add one line; the usage of a call replaces its reservation, in whichever order the two come."""
    if not line.strip():
        return
    entry = _entry(line)
    if entry is None:
        day.damaged += 1
    elif not entry.open or entry.id not in day.entries:
        day.entries[entry.id] = entry


def _entry(line: bytes) -> LedgerEntry | None:
    """The entry on a line, None for a line without one."""
    record = _record(line)
    money, counts = record.get("money"), [record.get(name) for name in ("input", "output", "cached", "written")]
    if not all(map(_is_count, counts)) or not (money is None or _is_amount(money)):
        return None
    match record.get("reserved", record.get("used")), record.get("run"), record.get("job"), record.get("model"):
        case str(identity), str(run), str(job), str(model):
            dollars = None if money is None else float(money)
            scope, usage = SpendScope(run, job), Usage(*map(number, counts))
            return LedgerEntry(identity, scope, model, usage, dollars, open="reserved" in record)
        case _:
            return None


def _record(line: bytes) -> dict[str, Json]:
    """The fields of a line; none if it is damaged."""
    try:
        record = parse_json(line)
    except (ValueError, RecursionError):
        return {}
    is_whole = isinstance(record, dict) and ("crc" not in record or record.pop("crc") == _crc(record))
    return record if is_whole else {}


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_amount(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0


def _crc(line: dict[str, object]) -> int:
    """The checksum of a line's other fields; lines of older versions have none."""
    return crc32(json.dumps(line, ensure_ascii=True, sort_keys=True).encode())


def _length(path: Path) -> Path:
    """The path of the file that holds the minimum length of a day's file."""
    return path.with_suffix(".length")


def _written(path: Path) -> int:
    """The minimum length of a day's file; 0 when unknown, so that any length is accepted."""
    try:
        return int(_length(path).read_text("ascii"))
    except (OSError, ValueError):
        return 0


def _check_length(path: Path, size: int, written: int) -> None:
    """Raise `Permanent` for a day's file that is shorter than what was written to it."""
    if size < written:
        raise _damaged(path, Sentence("{count} bytes of it are gone", count=written - size))


def _damaged(path: Path, what: Sentence) -> Permanent:
    return Permanent(
        "{path} is damaged: {what}, so what was spent is not known",
        hint="look at it, then move it away, and {name} beside it, to begin the day's count anew",
        path=path,
        what=what,
        name=_length(path).name,
    )


def _append(descriptor: int, data: bytes) -> None:
    """Append a line, after a line break if a kill has cut off the last line."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        data = b"\n" + data
    while data:
        data = data[os.write(descriptor, data) :]


def _flush_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot; the line itself is on the disk
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            platform().flush(descriptor)
        finally:
            os.close(descriptor)


def _unusable(path: Path, error: OSError) -> Permanent:
    return Permanent(
        "the spend ledger {path} cannot be used: {reason}",
        hint="make it readable and writable: no model is called while what was spent is not known",
        path=path,
        reason=os_reason(error),
    )
