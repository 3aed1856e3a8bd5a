"""The comparison with other programs runs on a few notes, and says what it could not compare."""

import shutil
from pathlib import Path

import pytest

from tests.bench import peers
from tests.bench.retrieval import Question
from tests.vaults import write

ASKED = [Question("the green kettle", frozenset({"kettle.md"})), Question("violin lessons", frozenset({"deep/v.md"}))]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    write(tmp_path / "notes" / "kettle.md", "A green kettle.\n")
    write(tmp_path / "notes" / "deep" / "v.md", "My violin lessons began.\nA violin!\n")
    write(tmp_path / "notes" / "other.md", "Nothing of the kind.\n")
    return tmp_path / "notes"


@pytest.mark.skipif(shutil.which("grep") is None, reason="grep is not installed")
def test_we_and_grep_are_measured_on_the_same_notes(notes: Path) -> None:
    rows = peers.compare(notes, ASKED, peers.PEERS[:2])
    assert [row.problem for row in rows] == ["", ""]
    assert all(row.found is not None and row.found.mrr == 1.0 and row.median_ms > 0 for row in rows)
    assert sorted(path.name for path in notes.iterdir()) == ["deep", "kettle.md", "other.md"]


def test_a_peer_that_is_absent_or_fails_is_named_in_the_table(notes: Path) -> None:
    def broken(ground: peers.Ground) -> None:
        ground.run("git", "no-such-command")

    absent = peers.Peer("absent", "no-such-program-anywhere", broken, lambda ground, query: [])
    failing = peers.Peer("failing", "git", broken, lambda ground, query: [])
    shown = peers.table(peers.compare(notes, ASKED, [absent, failing]), len(ASKED))
    assert "| absent | not installed here |" in shown
    assert "| failing | failed: " in shown
