"""An index in PostgreSQL finds what one in files finds; one machine writes it, and none meets half of an update."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.database.away import DatabaseAway, DatabaseFault
from agent.database.connection import SharedDatabase
from agent.index import postgres_postings, postgres_vectors, update
from agent.index.files import WrittenElsewhere
from agent.index.keyword import Weights
from agent.index.postgres_place import PostgresPlace
from agent.index.search import Searcher
from agent.index.update import Updater
from tests.bench.vault import MemoryVault
from tests.index.fakes import FAKE
from tests.postgres_server import PostgresServer

WORDS = ["cat", "red", "car", "foo_bar", "E1234-5", "kettle", "garden", "river", "猫坐在垫子上", "#tag", "[[b]]"]
QUESTIONS = (
    "cat",
    "red automobile",
    "E1234-5 river",
    "猫",
    "tag:tag cat",
    "type:fact",
    "on 2026-03-04 car",
    "path:w/ red",
)


@dataclass
class Machine:
    """A machine with a clone of the vault that shares the index."""

    url: str
    vault: str
    name: str
    folder: Path
    notes: MemoryVault = field(default_factory=MemoryVault)
    places: list[PostgresPlace] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.searcher = Searcher(self.place(), "postgres", FAKE, Weights())
        self.writer = Updater(self.place(), "postgres", FAKE, Weights(), self.notes.clock, patience=0.0)

    def place(self) -> PostgresPlace:
        self.places.append(PostgresPlace(SharedDatabase(self.url, self.vault), self.name, self.folder))
        return self.places[-1]

    def write(self, **notes: str) -> None:
        """Save notes, and take them in."""
        self.notes.notes |= {f"{name}.md": text.encode() for name, text in notes.items()}
        self.notes.update(self.writer)

    def find(self, text: str) -> list[str]:
        found = self.searcher.search(text)
        assert found.degraded is None
        return [hit.path for hit in found.hits]

    def holding(self, word: str) -> list[str]:
        """The notes with a word, as the index has them."""
        return [hit.path for hit in self.searcher.search(word).hits if word in hit.passage]

    def close(self) -> None:
        self.searcher.close()
        self.writer.close()
        for each in self.places:
            each.close()


@pytest.fixture
def machine(database_url: str, tmp_path: Path) -> Iterator[Callable[..., Machine]]:
    made: list[Machine] = []

    def make(name: str = "one", vault: str = "", url: str = database_url) -> Machine:
        made.append(Machine(url, vault or str(tmp_path), name, tmp_path))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_after_any_updates_it_finds_the_same(
    machine: Callable[..., Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(postgres_postings, "_MANY", 3)  # small vaults' parts are joined, too
    monkeypatch.setattr(postgres_postings, "_LARGE", 16)
    chance, one = random.Random(seed), machine()
    for _ in range(12):
        for _ in range(chance.randint(1, 6)):
            path = chance.choice(["a.md", "w/b.md", "w/c.md", "w/d.md", "w/e.md", "2026-03-04.md", "x/f.md"])
            if chance.random() < 0.2:
                one.notes.notes.pop(path, None)
            else:
                body = "\n".join(" ".join(chance.choices(WORDS, k=5)) for _ in range(chance.randint(0, 6)))
                header = chance.choice(["", "---\ntype: fact\n---\n", "---\ndate: 2026-03-04\n---\n", "\0\n"])
                one.notes.notes[path] = (header + body).encode()
        one.notes.update(one.writer, verify=chance.random() < 0.3)
    own = one.notes.searcher(tmp_path / "own", "whoosh", FAKE)
    for question in QUESTIONS:
        for passages in (False, True):
            mine, shared = (each.search(question, passages=passages) for each in (own, one.searcher))
            assert shared.degraded is None
            assert shared.hits == mine.hits
    own.close()


def test_many_vectors_are_found_by_a_graph(machine: Callable[..., Machine], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_vectors, "GRAPH_FROM", 50)
    one = machine()
    one.write(**{f"n{each}": f"the number {each} of a list\n" for each in range(80)}, pet="# Pets\n\nkitten\n")
    writer = one.places[1].open_store(write=True)
    assert writer.session.has("chunk_graph")
    assert one.find("feline")[0] == "pet.md"
    one.write(pet="nothing\n", dog="a kitten\n")
    assert one.find("feline")[0] == "dog.md"


def test_a_server_that_is_away_is_named_and_comes_back(
    machine: Callable[..., Machine], postgres: PostgresServer
) -> None:
    one = machine()
    one.write(a="a kettle")
    assert one.find("kettle") == ["a.md"]
    postgres.kill()
    found = one.searcher.search("kettle")
    assert (found.hits, found.mode) == ((), "none")
    assert "cannot be reached" in (found.degraded or "")
    with pytest.raises(DatabaseAway):
        one.write(b="a kettle")
    postgres.start()
    for each in one.places:
        each.database.forget_absence()
    one.write(b="another kettle")
    assert set(one.find("kettle")) == {"a.md", "b.md"}


def test_one_machine_writes_until_its_connection_is_cut_and_half_of_its_work_is_not_seen(
    machine: Callable[..., Machine], database_url: str
) -> None:
    one, other = machine("one"), machine("other")
    one.write(a="a kettle")
    with pytest.raises(WrittenElsewhere, match="one writes the shared index"):
        other.write(b="a river")
    assert other.find("kettle") == ["a.md"]

    def cut(path: str) -> bytes:
        with SharedDatabase(database_url, "").connect() as connection:
            connection.execute("select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'")
        return one.notes.notes[path]

    one.notes.notes |= {"a.md": b"a letter", "c.md": b"a letter"}
    with pytest.raises(DatabaseAway):
        one.writer.update(one.notes.listed(), cut)
    assert (other.holding("letter"), other.holding("kettle")) == ([], ["a.md"])
    other.write(b="a river")
    assert (other.holding("river"), one.holding("river"), one.holding("kettle")) == (["b.md"], ["b.md"], [])
    with pytest.raises(WrittenElsewhere, match="other"):
        one.write(d="a garden")


def test_a_rebuild_is_searched_once_it_is_whole(
    machine: Callable[..., Machine], database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update, "_FIRST", 1)  # a new index has its first note before the others
    one, seen = machine(), list[list[str]]()
    one.write(**{f"n{each}": "a kettle" for each in range(3)})

    def read(path: str) -> bytes:
        seen.append(sorted(one.find("kettle")))
        return one.notes.notes[path]

    one.searcher.files.ask_for_rebuild("asked for")
    assert one.writer.update(one.notes.listed(), read).rebuilt == "asked for"
    assert seen == [["n0.md", "n1.md", "n2.md"]] * 3
    assert sorted(one.find("kettle")) == seen[0]
    with SharedDatabase(database_url, "").connect() as connection:
        query = "select count(*) from pg_namespace where starts_with(nspname, %s)"
        start = str(one.place().inode()).rpartition("_")[0]
        assert connection.execute(query, (start,)).fetchone() == (1,)  # the old one is gone


def test_two_vaults_in_one_database_know_nothing_of_each_other(machine: Callable[..., Machine], tmp_path: Path) -> None:
    one, other = machine(), machine(vault=f"{tmp_path} other")
    one.write(a="a kettle")
    other.write(b="a kettle")
    assert (one.find("kettle"), other.find("kettle")) == (["a.md"], ["b.md"])


def test_what_cannot_be_used_is_said_without_the_password() -> None:
    for url in ("postgresql://me:geheim123@127.0.0.1:1/x", "host=geheim123 =", "postgresql://me:geheim123@[x/"):
        with pytest.raises((DatabaseAway, DatabaseFault)) as found:
            SharedDatabase(url, "v").connect()
        assert "geheim123" not in f"{found.value} {found.value.hint} {SharedDatabase(url, 'v')!r}"


def test_pgvector_in_another_schema_is_found(
    machine: Callable[..., Machine], postgres: PostgresServer, database_url: str
) -> None:
    postgres.url("elsewhere")
    url = database_url.replace("dbname=tests", "dbname=elsewhere")
    with SharedDatabase(url, "").connect() as connection:
        connection.execute("create schema extensions")
        connection.execute("create extension vector schema extensions")
    one = machine(url=url)
    one.write(a="a kettle", pet="# Pets\n\nkitten\n")
    assert one.find("feline")[0] == "pet.md"


def test_what_postgresql_cannot_hold_is_no_damage(machine: Callable[..., Machine]) -> None:
    one = machine()
    one.write(a="a kettle")
    for question in ("path:a\0b kettle", "path:a\ud800*z kettle", "type:\0\ud800", "tag:a\0 kettle"):
        one.find(question)
    assert one.place().damage_met() == ""


def test_an_index_made_anew_under_a_search_is_searched_and_not_asked_for_again(
    machine: Callable[..., Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = machine()
    one.write(a="a kettle")
    assert one.find("kettle") == ["a.md"]
    name = PostgresPlace.inode
    before = [name(one.place())]
    one.place().ask_for_rebuild("asked for")
    one.write()
    monkeypatch.setattr(PostgresPlace, "inode", lambda place: before.pop() if before else name(place))
    assert one.find("kettle") == ["a.md"]
    assert one.place().damage_met() == ""


def test_a_server_that_was_started_again_is_searched_at_once(
    machine: Callable[..., Machine], database_url: str
) -> None:
    one = machine()
    one.write(a="a kettle")
    assert one.find("kettle") == ["a.md"]
    with SharedDatabase(database_url, "").connect() as connection:
        others = "backend_type = 'client backend' and pid <> pg_backend_pid()"
        connection.execute(f"select pg_terminate_backend(pid, 5000) from pg_stat_activity where {others}")
    assert one.find("kettle") == ["a.md"]
