"""The record of a research that is not over, in a file outside the vault: so that a killed one goes on where it was,
within the limits of calls and time that it began with.

What a search has found, what a page says and what a model has answered is written down at once, each under a key made
of what was asked. A later attempt that asks the same gets it from here: nothing is fetched or paid twice but the calls
that were under way in the moment of the kill. A call is noted before it is made, so it counts in any case. Money is
left to the meter of the models, which checks each call of a model in the same way.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from agent.clock import Clock
from agent.config import durable
from agent.config.durable import process_lock
from agent.config.private import make_folder
from agent.dataclass import dataclass
from agent.llm.messages import Json, mapping, parsed, text
from agent.records.takeover import parse_value, write_value
from agent.vault.layout import RESEARCH_RECORDS

FRESH = timedelta(days=7)
"""How long a record may lie before the research begins anew: pages change."""
_LOCKS = 3
"""The digits of a name that its lock is named by: a lock is never deleted, and so there are not many of them."""
_PARTIAL = "partial"

T = TypeVar("T")


def key_of(*parts: str) -> str:
    """A short key for what is asked."""
    return sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:24]


@dataclass(slots=True)
class CallShare:
    """The part of the calls that one researcher may use."""

    most: int
    used: int = 0


@dataclass(slots=True)
class ResearchRecord:
    """The record of one research in the file at `path`: values by their keys; may be used by several threads. The
    research may begin at most `most` searches and readings, for `limit` seconds; those of earlier attempts count. `run`
    is its account, `started` when its first attempt began."""

    path: Path
    clock: Clock
    most: int
    limit: float
    run: str = field(init=False)
    started: datetime = field(init=False)
    is_resumed: bool = field(init=False)
    _known: dict[str, str] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)
    _numbers: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _turns: dict[str, threading.Lock] = field(default_factory=dict)
    _earlier: float = 0.0
    _since: float = field(init=False)

    def __post_init__(self) -> None:
        self._since = self.clock.monotonic()
        data = self.path.read_bytes() if self.path.exists() else b""
        if data and not data.endswith(b"\n"):  # a kill has cut the last line
            durable.append(self.path, "\n")
        for row in data.split(b"\n"):
            with suppress(ValueError):
                self._take(parsed(row))
        self.is_resumed = bool(self._known)
        self.run = self.once("run", str, self.clock.new_id)
        self.started = self.once("started", datetime, self.clock.now)

    @property
    def partial(self) -> str:
        """The section that an earlier attempt has left in a note, which stands there until the research is over."""
        return self._known.get(_PARTIAL, "")

    @property
    def used(self) -> int:
        """The calls of all attempts so far."""
        return len(self._begun)

    @property
    def seconds(self) -> float:
        """The seconds of all attempts so far."""
        return round(self._earlier + self.clock.monotonic() - self._since, 1)

    @property
    def is_late(self) -> bool:
        """True if the time is over."""
        return self.seconds >= self.limit

    def begin(self, call: str, share: CallShare) -> bool:
        """Count a call before it is made; one that was begun in an earlier attempt counts once. False if it may not be
        made, because the share, all calls or the time are used up."""
        with self._lock:
            is_new = call not in self._begun
            if self.is_late or share.used >= share.most or (is_new and self.used >= self.most):
                return False
            share.used += 1
            if is_new:
                self._write({"begin": call})
                self._begun.add(call)
            return True

    def has(self, key: str) -> bool:
        """True if something was written down under a key."""
        return key in self._known

    def once(self, key: str, kind: type[T], work: Callable[[], T]) -> T:
        """The value under a key, else the result of `work`, which is written down; two threads never do the same
        work."""
        with self._lock:
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            with suppress(KeyError, ValueError):
                return parse_value(kind, self._known[key])
            found = work()
            self._keep(key, write_value(found))
            return found

    def number_of(self, address: str) -> int:
        """The number of a source, the same in each attempt."""
        with self._lock:
            if address not in self._numbers:
                self._write({"source": address})
                self._numbers.append(address)
            return self._numbers.index(address) + 1

    def note_partial(self, section: str) -> None:
        """Write down the section that stands in the note until the research is over."""
        self._keep(_PARTIAL, section)

    def end(self) -> None:
        """Delete the record: the research is over."""
        self.path.unlink(missing_ok=True)

    def _keep(self, key: str, value: str) -> None:
        with self._lock:
            self._write({"key": key, "value": value})
            self._known[key] = value

    def _take(self, line: Json) -> None:
        """Take in a line that an earlier attempt has written."""
        found = mapping(line)
        seconds = found.get("seconds")
        self._earlier = max(self._earlier, float(seconds) if isinstance(seconds, int | float) else 0.0)
        if "key" in found:
            self._known[text(found["key"])] = text(found.get("value"))
        if "begin" in found:
            self._begun.add(text(found["begin"]))
        if "source" in found:
            self._numbers.append(text(found["source"]))

    def _write(self, line: dict[str, Json]) -> None:
        durable.append(self.path, json.dumps({**line, "seconds": self.seconds}, ensure_ascii=False) + "\n")


@contextmanager
def open_record(private_folder: Path, name: str, clock: Clock, most: int, limit: float) -> Iterator[ResearchRecord]:
    """The record of the research of this name, held by this process; a new one if there is none, or if it is old.

    Raises `LockHeld` if another process does the same research.
    """
    path = private_folder / RESEARCH_RECORDS / f"{name}.jsonl"
    make_folder(path.parent)
    with process_lock(path.with_name(f"{name[:_LOCKS]}.lock"), clock, 0.0, "this is being researched already"):
        record = ResearchRecord(path, clock, most, limit)
        if clock.now() - record.started > FRESH:
            record.end()
            record = ResearchRecord(path, clock, most, limit)
        yield record
