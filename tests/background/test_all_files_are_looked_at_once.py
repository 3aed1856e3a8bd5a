"""git looks at all files once for the index and for a person's edits, and nothing that was saved is left out."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.background import human_edits
from agent.background.human_edits import ALONG, HumanEdits
from agent.clock import SystemClock
from agent.events.types import FilesChanged, NoteEdited, Origin
from agent.vault.listing import list_notes
from agent.vault.options import Options
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.vaults import git, head, make_vault, write

SCAN, STILL = 240.0, 3600.0


class Looks:
    """The edits of a vault, a clock that only moves when told, and how often git looked at all files for them."""

    def __init__(self, folder: Path) -> None:
        self.clock = FakeClock(SystemClock().now())
        options = Options(durable=False, quiet_seconds=0.0)
        self.vault = make_vault(folder, {"tea.md": "green\n"}, clock=self.clock, options=options)
        self.edits = HumanEdits(self.vault, self.clock, 2.0, SCAN, lambda event: None, still_seconds=STILL)
        self.commits = 0

    def tick(self) -> int:
        """One turn's tick; returns how many looks it took."""
        before = self.commits
        self.edits.turn(self.clock.monotonic())
        return self.commits - before

    def list(self) -> None:
        """What the index does each `STILL` seconds, and at the start."""
        self.edits.listed(list_notes(self.vault))


@pytest.fixture
def looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Looks]:
    made, commit = Looks(tmp_path), Vault.commit_human

    def counted(vault: Vault, **how: bool) -> object:
        made.commits += 1
        return commit(vault, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(Vault, "commit_human", counted)
    yield made


def test_a_vault_that_lies_still_is_looked_at_for_the_index_only(looks: Looks) -> None:
    for _ in range(5):
        looks.list()
        assert looks.tick() == 0 and looks.edits.settled
        looks.clock.advance(STILL)


def test_what_the_index_found_changed_is_committed_in_the_same_tick(looks: Looks) -> None:
    looks.list()
    looks.tick()
    write(looks.vault.place.root / "tea.md", "black\n")
    looks.clock.advance(STILL)
    looks.list()
    assert looks.tick() == 1 and not git(looks.vault.place.root, "status", "--porcelain")


def test_without_the_index_it_looks_itself_within_minutes_of_a_change(looks: Looks) -> None:
    looks.list()
    looks.tick()
    looks.edits.changed(FilesChanged((NoteEdited("milk.md", "", "", Origin.OWN),), looks.clock.monotonic()))
    write(looks.vault.place.root / "tea.md", "black\n")
    looks.clock.advance(SCAN)
    assert looks.tick() == 0
    looks.clock.advance(ALONG)
    assert looks.tick() == 1 and not git(looks.vault.place.root, "status", "--porcelain")
    assert SCAN + ALONG <= 300


def test_without_the_index_and_a_change_it_looks_within_the_hour(looks: Looks) -> None:
    looks.list()
    looks.tick()
    write(looks.vault.place.root / "tea.md", "black\n")
    looks.clock.advance(STILL)
    assert looks.tick() == 0
    looks.clock.advance(ALONG)
    assert looks.tick() == 1 and not git(looks.vault.place.root, "status", "--porcelain")


def test_a_save_after_the_index_has_looked_is_committed(looks: Looks) -> None:
    before = head(looks.vault.place.root)
    looks.list()
    write(looks.vault.place.root / "tea.md", "black\n")
    looks.edits.changed(FilesChanged((NoteEdited("tea.md", "", "", Origin.HUMAN),), looks.clock.monotonic()))
    looks.tick()
    looks.clock.advance(2.0)
    looks.tick()
    assert head(looks.vault.place.root) != before


def test_a_look_of_long_ago_says_nothing(looks: Looks) -> None:
    looks.list()
    looks.clock.advance(ALONG)
    assert looks.tick() == 1


def test_an_index_that_is_compared_again_and_again_makes_it_look_no_more_often(looks: Looks) -> None:
    git(looks.vault.place.root, "rm", "-q", "--cached", "tea.md")  # half done by its person, and so left alone
    counts = []
    for _ in range(30):
        looks.list()
        counts.append(looks.tick())
        looks.clock.advance(human_edits.RETRY)
    assert counts[0] == 1 and sum(counts) <= 3
