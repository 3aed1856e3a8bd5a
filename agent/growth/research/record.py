"""The record of a research that is not over, in a file outside the vault: so that a killed one goes on where it was.

What a search has found, what a page has said and what a model has answered is written down at once, each under a key
made of what was asked. A later attempt that asks the same gets it from here: nothing is fetched or paid twice but the
calls that were under way in the moment of the kill. A call is noted before it is made, so it counts in any case.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from agent.clock import Clock
from agent.config.private import make_folder
from agent.dataclass import dataclass
from agent.llm.messages import Json, mapping, number, parsed, text
from agent.vault import durable
from agent.vault.durable import process_lock
from agent.vault.layout import RESEARCH_RECORDS

FRESH = timedelta(days=7)
"""How long a record may lie before the research begins anew: pages change."""
_LOCKS = 3
"""The digits of a name that its lock is named by: a lock is never deleted, and so there are not many of them."""


def key_of(*parts: str) -> str:
    """A short key for what is asked."""
    return sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:24]


@dataclass(slots=True)
class ResearchRecord:
    """The record of one research in the file at `path`. `run` is its account, `started` when it began.

    `seconds` is the time that earlier attempts have used, `partial` the section that an earlier one has left in a note.
    """

    path: Path
    clock: Clock
    run: str
    started: datetime
    seconds: float = 0.0
    partial: str = ""
    is_resumed: bool = False
    begun: set[str] = field(default_factory=set)
    _numbers: dict[str, int] = field(default_factory=dict)
    _known: dict[str, Json] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _turns: dict[str, threading.Lock] = field(default_factory=dict)
    _since: float = 0.0

    def has(self, key: str) -> bool:
        """True if something was written down under a key."""
        return key in self._known

    def once(self, key: str, work: Callable[[], Json]) -> Json:
        """What is known under a key, else the result of `work`, which is written down; two threads never do the same
        work."""
        with self._turn(key):
            if key not in self._known:
                found = work()
                self._write({"key": key, "value": found, "seconds": self.used_seconds})
                self._known[key] = found
            return self._known[key]

    def number_of(self, address: str) -> int:
        """The number of a source, the same in each attempt."""
        with self._turn("numbers"):
            if address not in self._numbers:
                self._write({"number": len(self._numbers) + 1, "address": address})
                self._numbers[address] = len(self._numbers) + 1
            return self._numbers[address]

    def note_call(self, call: str) -> None:
        """Write down that a call begins."""
        self._write({"begin": call, "seconds": self.used_seconds})

    def note_partial(self, section: str) -> None:
        """Write down the section that stands in the note until the research is over."""
        self.partial = section
        self._write({"partial": section, "seconds": self.used_seconds})

    def end(self) -> None:
        """Delete the record: the research is over."""
        self.path.unlink(missing_ok=True)

    def _turn(self, key: str) -> threading.Lock:
        with self._lock:
            return self._turns.setdefault(key, threading.Lock())

    @property
    def used_seconds(self) -> float:
        """The seconds of all attempts so far."""
        return round(self.seconds + self.clock.monotonic() - self._since, 1)

    def _write(self, line: dict[str, Json]) -> None:
        with self._lock:
            durable.append(self.path, json.dumps(line, ensure_ascii=False) + "\n")

    def load(self) -> None:
        """Take in what earlier attempts have written; a line that a kill has cut is left out, and ended."""
        self._since = self.clock.monotonic()
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        for row in data.split(b"\n"):
            with suppress(ValueError):
                self._take(mapping(parsed(row)))
        if data and not data.endswith(b"\n"):
            durable.append(self.path, "\n")

    def _take(self, line: Json) -> None:
        found = mapping(line)
        seconds = found.get("seconds")
        self.seconds = max(self.seconds, float(seconds) if isinstance(seconds, int | float) else 0.0)
        if "key" in found:
            self._known[text(found.get("key"))] = found.get("value")
        if "number" in found:
            self._numbers[text(found.get("address"))] = number(found.get("number"))
        self.begun |= {text(found.get("begin"))} - {""}
        self.partial = text(found.get("partial")) or self.partial
        if "run" in found:
            self.run, self.is_resumed = text(found.get("run")), True
            with suppress(ValueError):
                self.started = datetime.fromisoformat(text(found.get("started")))


@contextmanager
def open_record(private_folder: Path, name: str, clock: Clock) -> Iterator[ResearchRecord]:
    """The record of the research of this name, held by this process; a new one if there is none, or if it is old.

    Raises `LockHeld` if another process does the same research.
    """
    path = private_folder / RESEARCH_RECORDS / f"{name}.jsonl"
    make_folder(path.parent)
    with process_lock(path.with_name(f"{name[:_LOCKS]}.lock"), clock, 0.0, "this is being researched already"):
        record = ResearchRecord(path, clock, clock.new_id(), clock.now())
        record.load()
        if record.is_resumed and clock.now() - record.started > FRESH:
            record.end()
            record = ResearchRecord(path, clock, clock.new_id(), clock.now())
            record.load()
        if not record.is_resumed:
            record._write({"run": record.run, "started": record.started.isoformat()})
        yield record
