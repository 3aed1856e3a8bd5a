"""Search in very many passages as a whole: long notes, indexed by the program itself, and a daemon that keeps up.

Each note has ten passages of made-up words, whose vectors are harder to tell apart by their signs than those of real
text. Searches are told in processor time. Memory is read from `/proc`, so this is for Linux alone.
"""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agent.benches.figures import Figure, Measure, middle_and_tail
from agent.benches.speed import SAVED_MS, Site, daemon, saves_beside, site
from agent.benches.vaults import build_prose, questions
from agent.clock import SystemClock
from agent.errors import Permanent
from agent.index.keyword import Engine
from agent.workspace.search_index import SearchIndex, open_index
from tests.bench.process import Process, needs_proc

PASSAGES_OF_A_NOTE = 10
WORDS = 494
"""Words of a note that has so many passages."""
SEARCH_MS = 40.0
DAEMON_MB = 800.0
QUESTIONS = 100
_ASKED = 5
"""Questions to the daemon."""
_LOOK = 0.05
"""Seconds between two looks at the memory of a command."""


def measure(folder: Path, passages: int, engine: Engine, rounds: int, say: Callable[[str], None]) -> list[Measure]:
    """All figures of a new vault; `rounds` is the number of saves."""
    needs_proc()
    notes = max(passages // PASSAGES_OF_A_NOTE, 1)
    say(f"writing {notes} notes of {WORDS} words")
    paths = build_prose(folder / "vault", notes, of_words=WORDS)
    place = site(folder / "vault", folder / "home", engine)
    say("first index")
    used = run_measured(place.command("reindex"), place.environ)
    first = [
        Measure(f"{passages} passages: first index", used.seconds, "s"),
        Measure("… processor time", used.processor, "s"),
        Measure("… most memory of its process", used.memory, "MB"),
    ]
    return first + measure_built(place, paths, rounds, say)


def measure_built(place: Site, paths: Sequence[str], rounds: int, say: Callable[[str], None]) -> list[Measure]:
    """The figures of a vault whose index is whole."""
    with closing(open_index(place.workspace)) as index:
        asked = questions(place.root, list(paths), QUESTIONS)
        say("searches")
        found = middle_and_tail(warm_searches(index, asked), SEARCH_MS)
    say("saves, with a daemon at work")
    with daemon(place) as pid:
        process = Process(pid)
        rest = process.memory()
        saved = saves_beside(place, list(paths), rounds)
        after = process.memory()
        for text in asked[:_ASKED]:
            place.run("search", text)  # the daemon answers it
        searched = process.memory()
    return [
        *found,
        Measure("memory of the daemon at rest", rest, "MB", DAEMON_MB),
        Measure("… after the saves", after, "MB", DAEMON_MB),
        Measure(f"… after it was asked {_ASKED} times", searched, "MB", DAEMON_MB),
        *middle_and_tail(saved, SAVED_MS),
    ]


@dataclass(frozen=True, slots=True)
class Used:
    """What a command has used: seconds by the clock and of processor time with its children's, and the most memory of
    its process in MB."""

    seconds: float
    processor: float
    memory: float


def run_measured(command: Sequence[str], environ: dict[str, str]) -> Used:
    """Run a command; raises `Permanent` if it fails."""
    started = time.perf_counter()
    running = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    most, ended = 0.0, 0
    while not ended:
        most = max(most, Process(running.pid).most_memory())
        SystemClock().sleep(_LOOK)
        ended, status, used = os.wait4(running.pid, os.WNOHANG)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise Permanent("{command} ended with {code}", command=command[-1], code=running.returncode)
    return Used(time.perf_counter() - started, used.ru_utime + used.ru_stime, most)


def warm_searches(index: SearchIndex, asked: Sequence[str]) -> Figure:
    """The milliseconds of processor time of each question, asked once, after ten that do not count."""
    for text in asked[:10]:
        index.search(text, 10)
    times = []
    for text in asked:
        started = time.thread_time()
        answer = index.search(text, 10)
        times.append((time.thread_time() - started) * 1000)
        if not answer.hits or answer.mode != "hybrid":
            raise Permanent("a search was not answered in full: {reason}", reason=answer.degraded or text)
    return Figure("search, warm (processor time)", tuple(times))
