"""A person's hours: one deed after the other, all kinds in each round, and a look at the daemon each quarter hour."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from agent.benches.figures import Measure
from tests.bench.process import Process, needs_proc
from tests.bench.soak.daemon_log import DaemonLog
from tests.bench.soak.deeds import DEEDS, Deed, Failed, tell
from tests.bench.soak.machine import Machine, make_machine, watched
from tests.bench.soak.readings import HEAD, Reading, fresh_size, take_reading
from tests.bench.soak.verdicts import Ending, judge

QUARTER = 0.25
PAUSE = 60.0
"""Seconds of the person's time between two deeds, on average."""
_LOOKS = 5
_REST = 20.0
"""Seconds of the machine that a look waits at most for the daemon to be at rest."""


@dataclass(slots=True)
class Person:
    """The hours of a person on a machine. `say` is told each reading, and each deed that failed."""

    machine: Machine
    daemon: Process
    log: DaemonLog
    say: Callable[[str], None]
    chance: Random = field(default_factory=lambda: Random(20))
    readings: list[Reading] = field(default_factory=list)
    done: int = 0
    failed: list[str] = field(default_factory=list)

    def live(self, hours: float) -> None:
        """Do one thing after the other for so many hours of the person's time, and look each quarter hour."""
        clock = self.machine.clock
        start, deeds = clock.monotonic(), self._deeds()
        self.look(0.0)
        due, look = start, QUARTER
        while (hour := (clock.monotonic() - start) / 3600) < hours:
            if hour >= look:
                self.look(hour)
                look = QUARTER * (int((clock.monotonic() - start) / 3600 / QUARTER) + 1)
            elif clock.monotonic() >= due:
                self.do(next(deeds))
                due = clock.monotonic() + self.chance.expovariate(1 / PAUSE)
            else:
                clock.sleep(max(min(due, start + look * 3600) - clock.monotonic(), 0.0))
        self.look(hours)

    def do(self, deed: Deed) -> None:
        """Do one thing."""
        self.done += 1
        try:
            deed(self.machine, self.chance, self.done)
        except Failed as error:
            self.failed.append(f"{deed.__name__}: {error}")
            self.say(f"failed: {self.failed[-1]}")

    def look(self, hour: float) -> None:
        """Read the daemon when it is at rest, and compare its log with `status`."""
        for _ in range(_LOOKS):
            is_at_rest = self.machine.wait_for_rest(_REST)
            reading = take_reading(self.daemon, self.machine.root, hour, self.done)
            if not reading.children and self.machine.is_at_rest():
                break  # else work has begun meanwhile
        self.readings.append(reading)
        if new := self.log.new_errors():
            self.log.compare(new, self.machine.status())
            for error in new:
                self.say(f"in the log: {error}")
        self.say(self.readings[-1].line() + ("" if is_at_rest else "  (at work)"))

    def _deeds(self) -> Iterator[Deed]:
        bag = [deed for deed, times in DEEDS.items() for _ in range(times)]
        yield from DEEDS  # each kind once
        while True:
            self.chance.shuffle(bag)
            yield from bag


def measure(folder: Path, hours: float, rate: float, notes: int, say: Callable[[str], None]) -> list[Measure]:
    """The verdicts on so many hours of a person whose clock runs `rate` times as fast; the table is told by the way."""
    needs_proc()
    say(f"writing {notes} notes")
    machine = make_machine(folder, notes, rate)
    with watched(machine) as daemon:
        tell(machine, "jobs", "add", "every 30 minutes what is known of my walks", "--yes")
        person = Person(machine, daemon, DaemonLog(machine.log), say)
        say(HEAD)
        person.live(hours)
        began = time.monotonic()
    ending = Ending(time.monotonic() - began, fresh_size(machine.root))
    return judge(person.readings, person.log, ending, person.done, person.failed)
