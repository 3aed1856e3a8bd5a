"""Promises 11 and 6, the index: in the end it is what a rebuild would be, and meanwhile nothing is called found that is
not: an answer is right, or says that it is degraded and why."""

import random
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.errors import AgentError
from agent.workspace.catch_up import catch_up
from agent.workspace.search_index import SearchIndex, open_index
from tests.daemon.house import BRISK, furnish, on_disk, prose
from tests.daemon.process import environment
from tests.index.fakes import FAKE
from tests.trust.index_chaos import all_right, chaos, check_found, harm
from tests.trust.wipes import clear
from tests.vaults import make_vault, write


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(tmp_path / "home", monkeypatch.setenv)


@pytest.mark.parametrize(
    ("seed", "kills"), [("one", 3), *(pytest.param(f"s{n}", 10, marks=pytest.mark.chaos) for n in range(20))]
)
def test_after_edits_moves_deletions_and_kills_the_index_is_what_a_rebuild_is(
    tmp_path: Path, seed: str, kills: int
) -> None:
    chaos(tmp_path, seed, kills, environment(tmp_path / "home", BRISK))
    assert (tmp_path / "rebuilt/notes.db").is_file()


@pytest.mark.parametrize("count", [30, pytest.param(500, marks=pytest.mark.chaos)])
def test_under_any_damage_an_answer_is_right_or_says_that_it_is_degraded(tmp_path: Path, count: int) -> None:
    root = make_vault(tmp_path, {f"{n}.md": text(n) for n in range(12)}).place.root
    said = Counter[str]()
    for number in range(count):
        chance = random.Random(f"damage {number}")
        with closing(open_index(open_workspace(root), chosen=FAKE)) as index:
            index.refresh()
            index.search("amber", 3)
            if chance.random() < 0.5:
                index.close()  # a new process; otherwise one that has its files open already
            harm(index.files.folder, chance)
            said[check(index, root, chance)] += 1
    assert said["degraded"] > count // 10 and said["right"] > count // 10, said
    clear(tmp_path / "home")


def text(number: int) -> str:
    return f"# Note {number}\n\nword{number}x {prose(str(number))}"


def check(index: SearchIndex, root: Path, chance: random.Random) -> str:
    """Ask for every note, with one that was edited since; returns what was said. Raises where it was not true."""
    changed = chance.randrange(12)
    write(root / f"{changed}.md", text(changed) + f"{chance.choice(['later', 'after'])}\n")
    texts = {path: (root / path).read_text() for path in on_disk(root)}
    try:
        late = catch_up(index.workspace, index)
    except AgentError as error:
        late = error.message
        assert len(late) > 10
    said = bool(late) or not all_right(index, texts)
    index.close()
    all_right(index, texts)  # a new process reads every file; what it meets, the next update mends
    mended = catch_up(index.workspace, index) or "whole again"
    assert "whole again" in mended and catch_up(index.workspace, index) is None
    index.close()
    check_found(index, texts)
    return "degraded" if said else "right"


def test_a_search_never_waits_for_a_writer_and_says_what_is_missing(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {"1.md": text(1)}).place.root
    with closing(open_index(open_workspace(root), chosen=FAKE)) as index:
        index.refresh()
        write(root / "2.md", text(2))
        with index.files.writing(index.workspace.clock, 0):
            assert catch_up(index.workspace, index) == "the index is being brought up to date by another process"
        assert [hit.path for hit in index.search("word1x", 1).hits] == ["1.md"]
        assert catch_up(index.workspace, index) is None
        check_found(index, {"1.md": text(1), "2.md": text(2)})


def test_before_a_search_a_few_edits_are_taken_in_and_the_vault_is_listed_once(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {f"{n}.md": text(n) for n in range(6)}).place.root
    with closing(open_index(open_workspace(root), chosen=FAKE)) as index:
        index.refresh()
        listed, asked = index.listed, list[int]()

        def counted() -> dict[str, str]:
            asked.append(1)
            return listed()

        index.listed = counted
        write(root / "1.md", text(1) + "later\n")
        (root / "2.md").unlink()
        (root / "3.md").rename(root / "moved.md")
        write(root / "new.md", text(7))
        assert catch_up(index.workspace, index) is None
        assert len(asked) == 1
        assert index.known() == on_disk(root)
        check_found(index, {path: (root / path).read_text() for path in on_disk(root)})
        (root / "4.md").unlink()
        (index.files.folder / "notes.db").unlink()
        assert catch_up(index.workspace, index) is None
        assert index.known() == on_disk(root)


def test_a_search_while_the_index_is_being_built_does_not_have_it_built_once_more(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {"1.md": text(1)}).place.root
    with closing(open_index(open_workspace(root), chosen=FAKE)) as index:
        read, asked = index.read, []

        def slow(path: str) -> bytes | None:
            with closing(open_index(index.workspace, chosen=FAKE)) as other:
                asked.append(other.search("word1x", 1).degraded)
            return read(path)

        index.read = slow
        index.refresh()
        assert asked and all(asked)
        assert not index.is_broken(), "the search asked for a rebuild of what was being built"
        assert index.search("word1x", 1).degraded is None


def test_a_search_that_goes_on_sees_that_the_index_was_built_anew(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {"1.md": text(1)}).place.root
    with (
        closing(open_index(open_workspace(root), chosen=FAKE)) as index,
        closing(open_index(open_workspace(root), chosen=FAKE)) as other,
    ):
        index.refresh()
        check_found(other, {"1.md": text(1)})
        write(root / "1.md", text(2))
        index.files.ask_for_rebuild("a test")
        index.refresh()
        check_found(other, {"1.md": text(2)})
        assert other.search("amber", 3).degraded is None
