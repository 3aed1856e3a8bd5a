"""A crash at every point while files of a remote are taken in: the next write finishes it, or takes it back whole."""

from pathlib import Path

import pytest

from agent.git.commit import Committer
from agent.vault.store import open_vault
from agent.vault.worktree.files import Files
from agent.vault.write.journal import Journal
from tests.vault.sync.machines import Machine, two_machines
from tests.vault.test_after_a_crash_the_next_write_settles_it import Crash, crash_when
from tests.vaults import FAST, git

NOTES = {"a.md": "one\n", "b.md": "two\n", "c.md": "three\n"}
POINTS = [
    *[(Files, "stage", calls, after) for calls in (1, 2) for after in (False, True)],
    (Files, "publish", 1, False),
    (Files, "publish", 1, True),
    (Files, "trade", 1, False),
    (Files, "trade", 1, True),
    (Files, "take", 1, False),
    (Files, "take", 1, True),
    (Committer, "move_to", 1, False),
    (Committer, "_update_head", 1, False),
    (Committer, "_update_head", 1, True),
    (Files, "discard", 1, False),
    (Journal, "close", 1, False),
]


@pytest.mark.parametrize("diverged", [False, True], ids=["behind", "diverged"])
@pytest.mark.parametrize(("owner", "name", "calls", "after"), POINTS, ids=lambda p: getattr(p, "__name__", str(p)))
def test_it_is_finished_or_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, calls: int, after: bool, diverged: bool
) -> None:
    one, other = two_machines(tmp_path, NOTES)
    one.write("a.md", "one\nand more\n")
    one.write("new/d.md", "four\n")
    (one.root / "b.md").unlink()
    one.synced()
    if diverged:
        other.write("c.md", "three\nhere\n")
        other.vault.commit_human()
    with monkeypatch.context() as planted:
        crash_when(planted, owner, name, calls, after)
        with pytest.raises(Crash):
            other.sync()
    fresh = Machine(
        other.name, open_vault(other.root, tmp_path / "bert" / "state", other.vault.clock, FAST), one.remote
    )
    fresh.vault.settle()
    there = {path: fresh.read(path) for path in fresh.files()}
    arrived = {"a.md": "one\nand more\n", "new/d.md": "four\n", "c.md": fresh.read("c.md")}
    assert there in ({**NOTES, "c.md": fresh.read("c.md")}, arrived)
    assert git(other.root, "status", "--porcelain") == "", "nothing looks like a person's edit"
    fresh.synced()
    one.synced()
    assert one.vault.head == fresh.vault.head and {path: fresh.read(path) for path in fresh.files()} == arrived
    authors = set(git(other.root, "log", "--format=%an", "--", "a.md", "new/d.md", "b.md").split())
    assert authors == {"Anna"}, "what one wrote is never committed as somebody else's"


def test_what_is_typed_between_the_crash_and_the_next_start_is_on_top_of_what_arrived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "---\nid: rome\n---\n# Rome\n\nFirst.\n\nSecond.\n"
    one, other = two_machines(tmp_path, {"rome.md": note, "plan.md": "a\n\nb\n\nc\n"})
    (one.root / "rome.md").rename(one.root / "Rome.md")
    one.write("plan.md", "a\n\nb\n\nc, by one\n")
    one.synced()
    with monkeypatch.context() as planted:
        crash_when(planted, Files, "publish", 1, after=True)
        with pytest.raises(Crash):
            other.sync()
    assert other.files() == {"rome.md", "Rome.md", "plan.md"}, "the crash came in the middle"
    other.write("Rome.md", note + "\nTyped.\n")
    other.write("plan.md", "a, by other\n\nb\n\nc\n")
    other.synced()
    one.synced()
    assert other.files() == one.files() == {"Rome.md", "plan.md"}
    assert one.read("Rome.md") == note + "\nTyped.\n" and one.read("plan.md") == "a, by other\n\nb\n\nc, by one\n"


def test_a_note_that_a_person_makes_after_the_crash_does_not_stand_for_the_one_that_arrived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = two_machines(tmp_path, NOTES)
    one.write("a.md", "one\nand more\n")
    one.write("new.md", "# New\n\nBy one.\n")
    one.synced()
    with monkeypatch.context() as planted:
        crash_when(planted, Files, "trade", 1, after=True)
        with pytest.raises(Crash):
            other.sync()
    assert "new.md" not in other.files(), "the crash came before it"
    other.write("new.md", "# Mine\n\nBy other.\n")
    other.synced()
    one.synced()
    together = "".join(one.read(path) for path in one.files())
    assert "By one." in together and "By other." in together and one.files() == other.files()


def test_what_is_typed_after_the_crash_at_the_old_place_of_a_note_goes_to_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "---\nid: rome\n---\n# Rome\n\nFirst.\n"
    one, other = two_machines(tmp_path, {"rome.md": note})
    (one.root / "rome.md").rename(one.root / "Rome.md")
    one.synced()
    with monkeypatch.context() as planted:
        crash_when(planted, Files, "publish", 1, after=True)
        with pytest.raises(Crash):
            other.sync()
    other.write("rome.md", note + "\nTyped.\n")
    other.synced()
    one.synced()
    assert one.files() == other.files() == {"Rome.md"} and one.read("Rome.md") == note + "\nTyped.\n"


@pytest.mark.parametrize(
    ("owner", "name", "calls", "after"),
    [(Committer, "_update_head", 1, True), (Files, "take", 1, True), (Files, "publish", 1, True)],
    ids=["whole", "nearly whole", "half"],
)
def test_what_a_person_commits_after_the_crash_is_not_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, calls: int, after: bool
) -> None:
    notes = {"trips/rome.md": "# Rome\n", "trips/oslo.md": "# Oslo\n", "plan.md": "one\n"}
    one, other = two_machines(tmp_path, notes)
    (one.root / "trips").rename(one.root / "away")
    one.synced()
    other.write("plan.md", "two\n")
    other.vault.commit_human()
    with monkeypatch.context() as planted:
        crash_when(planted, owner, name, calls, after)
        with pytest.raises(Crash):
            other.sync()
    other.git("reset", "-q", "--soft", "HEAD~1")
    other.git("add", "-A", "--", ".", ":!*.vault-agent-*")
    other.git("commit", "-q", "-m", "All in one")
    committed = {path: other.read(path) for path in other.git("ls-files").split() if path != "vault-agent.yaml"}
    other.vault.settle()
    assert {path: other.read(path) for path in other.files()} == committed
    assert other.git("status", "--porcelain") == ""
    other.synced()
    one.synced()
    arrived = {"away/rome.md": "# Rome\n", "away/oslo.md": "# Oslo\n", "plan.md": "two\n"}
    assert {path: one.read(path) for path in one.files()} == arrived
    assert {path: other.read(path) for path in other.files()} == arrived


def test_a_temporary_file_that_was_moved_with_its_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = two_machines(tmp_path, {"trips/rome.md": "one\n", "b.md": "two\n"})
    one.write("trips/rome.md", "one\nand more\n")
    one.write("b.md", "two\nand more\n")
    one.synced()
    with monkeypatch.context() as planted:
        crash_when(planted, Files, "trade", 2, False)
        with pytest.raises(Crash):
            other.sync()
    assert [*other.root.rglob(".vault-agent-*")]
    (other.root / "trips").rename(other.root / "journeys")
    state = tmp_path / "bert" / "state"
    fresh = Machine(other.name, open_vault(other.root, state, other.vault.clock, FAST), one.remote)
    fresh.vault.settle()
    assert not [*other.root.rglob(".vault-agent-*")]
    fresh.synced()
    assert fresh.read("journeys/rome.md") == "one\nand more\n" and fresh.read("b.md") == "two\nand more\n"
