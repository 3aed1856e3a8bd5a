"""The comparison with other programs runs on a few notes, and says what it could not compare."""

import shutil
from pathlib import Path

import pytest

from tests.bench.peers.compare import compare, table
from tests.bench.peers.ground import Ground
from tests.bench.peers.programs import PEERS, Peer
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
    rows = compare(notes, ASKED, [peer for peer in PEERS if peer.name in ("vault-agent, Whoosh", "grep")])
    assert [row.problem for row in rows] == ["", ""]
    assert all(row.found is not None and row.found.mrr == 1.0 and row.cold_ms > 0 for row in rows)
    assert [row.unserved for row in rows] == ["", ""]
    assert all(row.warm_ms and row.found_ms for row in rows)
    assert rows[0].indexed is not None and rows[0].indexed.peak_mb > 10 and rows[0].served_mb and rows[0].disk_mb > 0
    assert sorted(path.name for path in notes.iterdir()) == ["deep", "kettle.md", "other.md"]


def test_a_peer_that_is_absent_or_fails_is_named_in_the_table(notes: Path) -> None:
    def broken(ground: Ground) -> None:
        ground.run("git", "no-such-command")

    absent = Peer("absent", "no-such-program-anywhere", broken, lambda ground, query: [])
    failing = Peer("failing", "git", broken, lambda ground, query: [])
    shown = table(compare(notes, ASKED, [absent, failing]), len(ASKED))
    assert "| absent | not installed here |" in shown
    assert "| failing | failed: " in shown
