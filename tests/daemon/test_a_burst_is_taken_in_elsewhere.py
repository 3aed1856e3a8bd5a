"""Very many changed notes are taken into the index by a process that ends with them; the daemon keeps what it needs."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent import daemon
from agent.background import index_sync
from agent.index import processes, update
from agent.index.files import IndexFiles
from agent.index.ingest import Prepare
from agent.index.update import ignore_progress
from agent.workspace import index_elsewhere
from agent.workspace.index_elsewhere import IndexTask, take_in_elsewhere
from tests.daemon.house import BRISK, House, blob, check_equals_a_rebuild, living, prose
from tests.index.fakes import FAKE, FakeEmbedder
from tests.stories.agents import furnish
from tests.vaults import write

MANY, NOTES = 20, 30


def fake_embedder() -> FakeEmbedder:
    """The fake, for a process of its own."""
    return FakeEmbedder()


def other_embedder() -> FakeEmbedder:
    return FakeEmbedder(name="other")


def fatal_embedder() -> FakeEmbedder:
    os.kill(os.getpid(), signal.SIGKILL)
    return FakeEmbedder()


ELSEWHERE = replace(FAKE, load=fake_embedder)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key, value in {**BRISK, "VAULT_AGENT_BRAKE__NOTES": "1000"}.items():
        monkeypatch.setenv(key, value)
    # The functions of this file have names that another process can import.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[2]), *sys.path]))
    monkeypatch.setattr(daemon, "MANY", MANY)
    monkeypatch.setattr(index_sync, "MANY", MANY)
    root = furnish(tmp_path, monkeypatch.setenv)
    for number in range(NOTES):
        write(root / f"thoughts/{number:02}.md", f"# Note {number}\n\n{prose(str(number))}")
    return root


def change_all(house: House, word: str) -> None:
    for number in range(NOTES):
        with (house.root / f"thoughts/{number:02}.md").open("a", encoding="utf-8") as file:
            file.write(f"\nA {word} more.\n")


def many_are_not_prepared_here(monkeypatch: pytest.MonkeyPatch) -> None:
    prepares = processes.preparing

    def refuse(notes: int, *others: Any) -> AbstractContextManager[Prepare]:
        assert notes < MANY, "this process was to leave so many notes to another"
        return prepares(notes, *others)

    monkeypatch.setattr(update, "preparing", refuse)


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_the_first_index_and_a_burst_are_made_by_another_process(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setenv("VAULT_AGENT_INDEX__KEYWORD", engine)
    with monkeypatch.context() as here:
        many_are_not_prepared_here(here)
        with living(root, ELSEWHERE) as house:
            assert house.parts.index.problem == ""
            house.catches_up()
            change_all(house, "kettle")
            house.catches_up()
            assert house.parts.index.problem == ""
            assert len(house.finds("kettle")) == NOTES
            house.commits_all()
    with living(root, ELSEWHERE) as house:
        check_equals_a_rebuild(house.index, tmp_path / "fresh", ["kettle", "amber", "valley"])


@pytest.mark.parametrize("load", [other_embedder, fatal_embedder])
def test_what_another_process_cannot_do_is_done_here(root: Path, load: Callable[[], FakeEmbedder]) -> None:
    with living(root, replace(FAKE, load=load)) as house:
        house.catches_up()
        change_all(house, "kettle")
        house.catches_up()
        assert house.parts.index.problem == ""
        assert len(house.finds("kettle")) == NOTES


def test_few_changes_start_no_process(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with living(root, ELSEWHERE) as house:
        house.catches_up()
        monkeypatch.setattr(index_elsewhere, "_PROCESS", "there.is.no.such.program")
        write(house.root / "thoughts/one.md", "# One\n\nA single zither.\n")
        house.catches_up()
        assert house.finds("zither") == ["thoughts/one.md"]
    assert "has ended" not in caplog.text


def test_a_list_longer_than_a_pipe_arrives_whole(root: Path) -> None:
    with living(root, FAKE) as house:
        house.catches_up()
        gone: dict[str, str | None] = {f"gone/{number:05} {'a long name ' * 4}.md": None for number in range(3000)}
        write(house.root / "thoughts/one.md", "# One\n\nA single zither.\n")
        gone["thoughts/one.md"] = blob((house.root / "thoughts/one.md").read_bytes())
        index = house.index
        task = IndexTask(house.root, index.files.folder, index.updater.identity, fake_embedder, gone, are_all=False)
        report = take_in_elsewhere(task, ignore_progress)
        assert report is not None and report.indexed == 1
        assert house.finds("zither") == ["thoughts/one.md"]


def test_who_is_interrupted_leaves_no_writer_behind(root: Path, tmp_path: Path) -> None:
    class Interrupted(BaseException):
        pass

    def interrupt(done: int, of: int) -> None:
        raise Interrupted

    with living(root, FAKE) as house:
        house.catches_up()
        files, root_folder = house.index.files, house.root
        identity = house.index.updater.identity
        change_all(house, "lantern")
        paths = [f"thoughts/{number:02}.md" for number in range(NOTES)]
        notes: dict[str, str | None] = {path: blob((root_folder / path).read_bytes()) for path in paths}
        task = IndexTask(root_folder, files.folder, identity, fake_embedder, notes, are_all=False)
        with pytest.raises(Interrupted):
            take_in_elsewhere(task, interrupt)
        assert not files.is_being_written()
        house.catches_up()
        assert len(house.finds("lantern")) == NOTES


def test_an_index_elsewhere_is_not_touched(root: Path, tmp_path: Path) -> None:
    with living(root, FAKE) as house:
        house.catches_up()
        identity = house.index.updater.identity
        other = IndexFiles(tmp_path / "elsewhere")
        task = IndexTask(house.root, other.folder, identity, fake_embedder, {}, are_all=True)
        assert take_in_elsewhere(task, ignore_progress) is None
        assert not other.folder.exists()
