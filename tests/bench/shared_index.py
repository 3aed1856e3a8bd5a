"""The index in PostgreSQL: beside the one in files, with many notes, and with several readers at once.

    python -m tests.bench.shared_index same [--notes 6289] [--questions 500]
    python -m tests.bench.shared_index first [--notes 20000]
    python -m tests.bench.shared_index readers [--notes 100000] [--words 130] [--readers 1 4] [--minutes 40]

`same` asks both engines the same questions about notes in 36 languages, and counts how many of the ten hits of the one
in files the other has. `first` indexes the same notes with each. `readers` fills the tables by the program's own writer
with notes that are prepared already (`made_notes`), for as long as it may; then notes are saved and found, and
processes search.

The server is started here, on a socket, with its files in the temporary folder, and ends with the command.
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import mean

from agent.benches.figures import Figure
from agent.clock import SystemClock
from agent.database.connection import SharedDatabase
from agent.index import postgres_place, update
from agent.index.embedder import choose_embedder
from agent.index.keyword import Engine, Weights
from agent.index.postgres_place import PostgresPlace
from agent.index.postgres_vectors import make_graph
from agent.index.search import Searcher
from agent.index.update import Updater
from tests.bench import speed
from tests.bench.made_notes import MADE, MadeNotes
from tests.bench.peers import notes as write_notes
from tests.bench.peers.ground import memory_mb
from tests.bench.process import Process
from tests.bench.retrieval import read
from tests.bench.vault import MemoryVault
from tests.postgres_server import PostgresServer, postgres_server

SETTINGS = {
    "shared_buffers": "2GB",
    "effective_cache_size": "6GB",
    "maintenance_work_mem": "3GB",
    "max_wal_size": "4GB",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "autovacuum": "on",
}
DISK = Path(tempfile.gettempdir())
_HITS = 10
_SAVES = 12
_STEP = 50_000
"""Notes that are filled in at once: after each it is looked whether there is time for more."""


def say(line: str) -> None:
    """Print a line, with the load of the machine in the last minute."""
    sys.stdout.write(f"{line} (load {os.getloadavg()[0]:.1f})\n")
    sys.stdout.flush()


@contextmanager
def replaced(module: object, name: str, value: object) -> Iterator[None]:
    """Another value for a name of a module, in this block."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def same(count: int, questions: int) -> float:
    """The share of the hits of the engine in files that the other has, too; the mean of all questions."""
    with tempfile.TemporaryDirectory(prefix="same-") as made, postgres_server(SETTINGS, DISK) as server:
        os.environ["VAULT_AGENT_DATABASE__URL"] = server.url("bench")
        root, fixture = Path(made) / "notes", Path(made) / "questions.jsonl"
        command = [sys.executable, "-m", write_notes.__name__, str(root), str(count), str(questions)]
        fixture.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        asked, vault, found = read(fixture), MemoryVault.of_folder(root), list[list[list[str]]]()
        engines: tuple[Engine, ...] = ("tantivy", "postgres")
        for engine in engines:
            searcher = vault.searcher(Path(made) / engine, engine, choose_embedder())
            found.append([[hit.path for hit in searcher.search(each.query, _HITS).hits] for each in asked])
            searcher.close()
    shares = [len({*own} & {*shared}) / max(len(own), 1) for own, shared in zip(*found, strict=True)]
    right = [mean(bool(each.relevant & {*hits}) for each, hits in zip(asked, of_one, strict=True)) for of_one in found]
    say(f"{count} notes, {len(asked)} questions: {mean(shares):.3f} of the ten hits, {min(shares):.1f} in the worst")
    say(f"the right note among the ten: {right[0]:.3f} in files, {right[1]:.3f} in PostgreSQL")
    return mean(shares)


def first(count: int) -> None:
    """The seconds of a first index with each engine, and of the graph."""
    vault, graph = MemoryVault(speed.notes(count)), list[float]()

    def timed(make: Callable[..., object], *arguments: object) -> None:
        began = time.perf_counter()
        make(*arguments)
        graph.append(time.perf_counter() - began)

    with tempfile.TemporaryDirectory(prefix="first-") as made, postgres_server(SETTINGS, DISK) as server:
        os.environ["VAULT_AGENT_DATABASE__URL"] = server.url("bench")
        with replaced(postgres_place, "make_graph", lambda session: timed(make_graph, session)):
            engines: tuple[Engine, ...] = ("tantivy", "postgres")
            for engine in engines:
                updater = vault.updater(Path(made) / engine, engine, choose_embedder())
                began, used = time.perf_counter(), time.process_time()
                vault.update(updater)
                say(
                    f"{count} notes, {engine}: {time.perf_counter() - began:.1f} s, of which the graph "
                    f"{sum(graph):.1f} s; of this process {time.process_time() - used:.1f} s of a processor"
                )
                updater.close()
                updater.files.close()


def readers(notes: MadeNotes, counts: Sequence[int], minutes: float, questions: int) -> None:
    """Fill the tables, save and find, and search with so many processes at once."""
    with tempfile.TemporaryDirectory(prefix="many-") as made, postgres_server(SETTINGS, DISK) as server:
        url = server.url("bench")
        place = PostgresPlace(SharedDatabase(url, "bench"), "bench", Path(made))
        with closing(place):
            updater = Updater(place, "postgres", MADE, Weights(), SystemClock())
            filled = MadeNotes(fill(updater, notes, minutes), notes.words)
            began = time.perf_counter()
            with place.writing(SystemClock(), 0.0):
                place.publish(is_whole=True)
            say(f"the graph: {time.perf_counter() - began:.0f} s")
            for line in sizes(url, server):
                say(line)
            figure = saves(updater, place, filled)
            say(f"{figure.line()}, most {max(figure.runs):.0f} ms")
            for count in counts:
                say(searching(url, filled, count, questions).line())


def fill(updater: Updater, notes: MadeNotes, minutes: float) -> int:
    """Write notes, without a graph; returns how many there was time for."""
    listed, began, done = iter(notes.listed().items()), time.perf_counter(), 0
    with (
        replaced(update, "preparing", notes.preparing),
        replaced(postgres_place, "make_graph", lambda session: None),
    ):
        while (some := dict(islice(listed, _STEP))) and time.perf_counter() - began < minutes * 60:
            if done:
                updater.touch(some, notes.read)
            else:
                updater.update(some, notes.read)
            done += len(some)
            say(f"{done} notes filled in after {time.perf_counter() - began:.0f} s")
    return done


def sizes(url: str, server: PostgresServer) -> Iterator[str]:
    """What the tables take on the disk, and the server in memory."""
    query = (
        "select relname, pg_table_size(c.oid) / 1e6, pg_indexes_size(c.oid) / 1e6 from pg_class c join pg_namespace n "
        "on n.oid = relnamespace where relkind = 'r' and nspname ~ '^vault_agent_.*_' order by 2 desc"
    )
    with SharedDatabase(url, "").connect() as connection:
        for name, own, indexes in connection.execute(query).fetchall():
            yield f"table {name}: {own:.0f} MB, its indexes {indexes:.0f} MB"
        row = connection.execute("select pg_database_size(current_database()) / 1e6").fetchone()
        yield f"the database: {row[0] if row else 0:.0f} MB; the server's memory {memory_mb(server.process):.0f} MB"


def saves(updater: Updater, place: PostgresPlace, notes: MadeNotes) -> Figure:
    """The milliseconds from the update for a saved note until another connection finds its new word."""
    times, searcher = list[float](), Searcher(place, "postgres", MADE, Weights())
    searcher.search("w1")
    paths = [*notes.listed()][:: max(notes.count // _SAVES, 1)][:_SAVES]
    for number, path in enumerate(paths):
        word, began = f"zyzzyva{number}", time.perf_counter()
        updater.touch({path: f"{number:039x}f"}, lambda path, word=word: f"# A note\n\n{word} w7\n".encode())  # type: ignore[misc]
        while path not in [hit.path for hit in searcher.search(word, 3).hits]:
            pass
        times.append((time.perf_counter() - began) * 1000)
    searcher.close()
    return Figure("saved and found", tuple(times))


def searching(url: str, notes: MadeNotes, count: int, questions: int) -> Figure:
    """The milliseconds of each search of so many processes at once."""
    context, times, memory = multiprocessing.get_context("spawn"), list[float](), list[float]()
    running = []
    for number in range(count):
        here, there = context.Pipe()
        process = context.Process(target=read_on, args=(there, url, notes.questions(questions + 10, seed=number + 2)))
        process.start()
        running.append((process, here))
    for _, here in running:
        here.recv()
    for _, here in running:
        here.send("begin")
    for process, here in running:
        times += here.recv()
        memory.append(Process(process.pid or 0).memory())
        here.send("end")
        process.join()
    return Figure(f"search, {count} readers of {max(memory):.0f} MB each", tuple(times))


def read_on(pipe: Connection, url: str, questions: Sequence[str]) -> None:
    """One reader: ready after ten searches, it begins when the others are."""
    searcher, times = Searcher(PostgresPlace(SharedDatabase(url, "bench"), "", Path()), "postgres", MADE, Weights()), []
    for at, text in enumerate(questions):
        if at == 10:
            pipe.send("ready")
            pipe.recv()
        began = time.perf_counter()
        answer = searcher.search(text, _HITS)
        times.append((time.perf_counter() - began) * 1000)
        assert answer.hits and answer.mode == "hybrid", answer.degraded
    pipe.send(times[10:])
    pipe.recv()
    searcher.close()


def main(arguments: Sequence[str]) -> None:
    """Do what the command line asks."""
    parser = argparse.ArgumentParser("python -m tests.bench.shared_index")
    parser.add_argument("what", choices=["same", "first", "readers"])
    parser.add_argument("--notes", type=int)
    parser.add_argument("--questions", type=int)
    parser.add_argument("--words", type=int, default=130)
    parser.add_argument("--readers", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--minutes", type=float, default=40.0)
    asked = parser.parse_args(arguments)
    if asked.what == "same":
        same(asked.notes or 6_289, asked.questions or 500)
    elif asked.what == "first":
        first(asked.notes or 20_000)
    else:
        readers(MadeNotes(asked.notes or 100_000, asked.words), asked.readers, asked.minutes, asked.questions or 100)


if __name__ == "__main__":
    main(sys.argv[1:])
