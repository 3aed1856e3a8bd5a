"""Promise 3: three clones that are edited, moved, cut off, killed and rewritten become equal, and no line is lost."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trust.convergence import Killer, live
from tests.trust.plants import plant

SMALL, FULL = 3, 300


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    found = Killer()
    yield found
    found.close()


@pytest.mark.parametrize(
    "seed", [*range(SMALL), *(pytest.param(seed, marks=pytest.mark.chaos) for seed in range(SMALL, FULL))]
)
def test_three_clones_end_equal_and_whole(tmp_path: Path, killer: Killer, seed: int) -> None:
    story = live(tmp_path / "clones", seed, killer)
    assert story.lines > 20 and story.rounds < 5
    shutil.rmtree(tmp_path / "clones")


@pytest.mark.chaos
@pytest.mark.parametrize(
    ("bug", "word"),
    [
        ("one side of a merge is dropped", "lost"),
        ("a push is only said", "the remote is elsewhere"),
        ("a rewritten remote is always followed", "lost"),
    ],
)
def test_a_planted_bug_is_caught(
    tmp_path: Path, killer: Killer, monkeypatch: pytest.MonkeyPatch, bug: str, word: str
) -> None:
    plant(bug, monkeypatch.setattr)
    with pytest.raises(AssertionError, match=word):
        live(tmp_path / "clones", 0, killer)
