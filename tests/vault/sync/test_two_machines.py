"""What two machines with one vault see of each other's work."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.git.network import Network
from agent.vault.history.purge import Cleaning, purge
from agent.vault.sync.permission import RemoteChoice, RemotePermission
from agent.vault.sync.round import RoundEnd, SyncRound
from tests.vault.sync.machines import Machine, two_machines
from tests.vaults import FAST, git, make_vault

NOTES = {
    "plan.md": "# Plan\n\nFirst.\n\nSecond.\n\nThird.\n",
    "tea.md": "# Tea\n\nGreen.\n",
    "trips/rome.md": "# Rome\n",
}


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Machine, Machine]:
    return two_machines(tmp_path, NOTES)


def test_what_one_writes_the_other_reads(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("plan.md", NOTES["plan.md"] + "\nFourth.\n")
    one.write("new/梦.md", "# 梦\n")
    (one.root / "tea.md").unlink()
    assert set(one.synced().sent) == {"plan.md", "new/梦.md", "tea.md"}
    assert set(other.synced().received) == {"plan.md", "new/梦.md", "tea.md"}
    assert other.files() == one.files() and other.read("plan.md") == one.read("plan.md")
    assert one.vault.head == other.vault.head and git(other.root, "status", "--porcelain") == ""


def test_nothing_to_do_makes_no_commit(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    before = one.vault.head
    assert one.synced().received == other.synced().sent == ()
    assert one.vault.head == other.vault.head == before


def test_both_edit_and_both_have_all(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("plan.md", NOTES["plan.md"].replace("First.", "First, by one."))
    other.write("tea.md", "# Tea\n\nBlack.\n")
    one.synced()
    other.synced()
    one.synced()
    assert one.vault.head == other.vault.head
    assert "First, by one." in other.read("plan.md") and "Black." in one.read("tea.md")
    parents = git(other.root, "log", "-1", "--format=%P %an").split()
    assert len(parents) == 3 and parents[2] == "vault-agent"


def test_an_edit_wins_over_a_deletion_and_is_listed(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (one.root / "tea.md").unlink()
    one.synced()
    other.write("tea.md", "# Tea\n\nOolong.\n")
    assert other.synced().kept == ("tea.md",)
    one.synced()
    assert one.read("tea.md") == other.read("tea.md") == "# Tea\n\nOolong.\n"


def test_a_note_edited_here_and_moved_there_is_both(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (one.root / "plan.md").rename(one.root / "trips/schedule.md")
    one.synced()
    other.write("plan.md", NOTES["plan.md"].replace("Second.", "Second, by other."))
    other.write("log.md", "See [[plan]].\n")
    other.synced()
    one.synced()
    assert one.files() == other.files() == {"trips/schedule.md", "tea.md", "trips/rome.md", "log.md"}
    assert "Second, by other." in one.read("trips/schedule.md")
    assert one.read("log.md") == "See [[schedule]].\n"


def test_new_notes_follow_a_folder_that_moved(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (one.root / "trips").rename(one.root / "journeys")
    one.synced()
    other.write("trips/oslo.md", "# Oslo\n")
    other.synced()
    one.synced()
    assert {"journeys/rome.md", "journeys/oslo.md"} < one.files() == other.files()


def test_the_same_name_made_twice_is_two_notes_with_their_links(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("ideas.md", "# Ideas\n\nA boat.\n")
    one.write("one.md", "My [[ideas]].\n")
    one.synced()
    other.write("ideas.md", "# Ideas\n\nA garden.\n")
    other.write("other.md", "My [[ideas]].\n")
    other.synced()
    one.synced()
    assert one.files() == other.files() >= {"ideas.md", "ideas (2).md"}
    for machine in (one, other):
        for author, text in (("one.md", "A boat."), ("other.md", "A garden.")):
            target = machine.read(author).removeprefix("My [[").partition("]]")[0]
            assert text in machine.read(f"{target}.md")


def test_a_rewritten_remote_that_loses_text_waits_and_nothing_moves(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("plan.md", NOTES["plan.md"] + "\nFourth.\n")
    one.synced()
    other.synced()
    other.git("reset", "-q", "--hard", "HEAD~1")
    other.git("push", "-q", "--force", "origin", "main")
    one.write("tea.md", "# Tea\n\nMint.\n")
    report = one.sync()
    assert report.wait is not None and report.wait.kind == "rewritten" and report.wait.paths == ("plan.md",)
    assert "Fourth." in one.read("plan.md") and "rewritten" in report.trouble


def rewritten(pair: tuple[Machine, Machine]) -> tuple[Machine, Machine]:
    """The remote has lost a line that one has, and one has a new note."""
    one, other = pair
    one.write("plan.md", NOTES["plan.md"] + "\nFourth.\n")
    one.synced()
    other.synced()
    other.git("reset", "-q", "--hard", "HEAD~1")
    other.write("tea.md", "# Tea\n\nGreen, there.\n")
    other.git("commit", "-q", "-am", "another story")
    other.git("push", "-q", "--force", "origin", "main")
    one.write("new.md", "# New\n")
    return pair


def test_what_was_taken_out_there_is_kept_here_on_request(pair: tuple[Machine, Machine]) -> None:
    one, other = rewritten(pair)
    assert one.sync().wait is not None
    one.synced(RemotePermission(RemoteChoice.KEEP))
    other.synced()
    for machine in pair:
        assert "Fourth." in machine.read("plan.md") and "Green, there." in machine.read("tea.md")
        assert machine.read("new.md") == "# New\n"


def test_what_was_taken_out_there_goes_here_on_request_and_is_rescued(pair: tuple[Machine, Machine]) -> None:
    one, other = rewritten(pair)
    before = one.vault.head
    report = one.synced(RemotePermission(RemoteChoice.TAKE))
    other.synced()
    for machine in pair:
        assert "Fourth." not in machine.read("plan.md") and "Green, there." in machine.read("tea.md")
        assert machine.read("new.md") == "# New\n"
    assert git(one.root, "log", "-1", "--format=%an %s").startswith("Anna human(notes): created new")
    rescued = git(one.root, "rev-parse", report.rescued).strip()
    assert "Fourth." in git(one.root, "show", f"{rescued}:plan.md")
    assert before is not None and git(one.remote, "for-each-ref", "refs/vault-agent/rescue") == ""


def test_a_remote_whose_history_was_only_made_shorter_is_followed(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("plan.md", NOTES["plan.md"] + "\nFourth.\n")
    one.synced()
    other.synced()
    tree = other.git("rev-parse", "HEAD^{tree}").strip()
    squashed = other.git("commit-tree", "-m", "all in one", tree).strip()
    other.git("push", "-q", "--force", "origin", f"{squashed}:main")
    one.write("new.md", "# New\n")
    one.synced()
    assert git(one.root, "log", "--format=%s").splitlines() == ["human(notes): created new", "all in one"]
    assert "Fourth." in one.read("plan.md")


def test_too_many_deletions_wait_for_a_yes_on_both_ways(tmp_path: Path) -> None:
    notes = {f"n{number}.md": f"# Note {number}\n\nA line of its own, {number}.\n" for number in range(40)}
    one, other = two_machines(tmp_path, notes)
    for number in range(30):
        (one.root / f"n{number}.md").unlink()
    assert one.sync().end is RoundEnd.WAITS, "the deletions are not even committed"
    one.vault.commit_human(confirmed=True)
    report = one.sync()
    assert report.wait is not None and report.wait.kind == "outgoing" and len(report.wait.paths) == 30
    one.synced(RemotePermission(mass=True))
    report = other.sync()
    assert report.wait is not None and report.wait.kind == "incoming" and len(other.files()) == 40
    other.synced(RemotePermission(mass=True))
    assert len(other.files()) == 10


def test_what_is_not_committed_is_merged_and_stays_the_persons(tmp_path: Path) -> None:
    one, other = two_machines(tmp_path, NOTES, replace(FAST, human_commits=False))
    one.write("plan.md", NOTES["plan.md"].replace("First.", "First, by one."))
    one.git("commit", "-q", "-am", "one")
    one.synced()
    other.write("plan.md", NOTES["plan.md"].replace("Third.", "Third, by other."))
    other.synced()
    assert "First, by one." in other.read("plan.md") and "Third, by other." in other.read("plan.md")
    assert other.vault.head == one.vault.head and other.git("status", "--porcelain") == " M plan.md\n"


def test_a_file_of_no_commit_is_not_lost_to_one_that_arrives(tmp_path: Path) -> None:
    one, other = two_machines(tmp_path, NOTES, replace(FAST, human_commits=False))
    other.write("secret.md", "mine alone\n")
    one.write("secret.md", "for all\n")
    one.git("add", "-A")
    one.git("commit", "-q", "-m", "one")
    one.synced()
    other.synced()
    together = "".join(other.read(path) for path in other.files() if path.startswith("secret"))
    assert "mine alone" in together and "for all" in together


def test_what_is_staged_waits(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("plan.md", NOTES["plan.md"] + "\nFourth.\n")
    one.synced()
    other.write("plan.md", "# Plan\n\nStaged.\n")
    other.git("add", "plan.md")
    report = other.sync()
    assert report.end is RoundEnd.WAITS and "staged" in report.trouble
    assert other.read("plan.md") == "# Plan\n\nStaged.\n"
    assert other.git("diff", "--cached", "--name-only") == "plan.md\n"
    other.git("commit", "-q", "-m", "mine")
    other.synced()


def test_a_merge_under_way_waits(pair: tuple[Machine, Machine]) -> None:
    _, other = pair
    (other.root / ".git" / "MERGE_HEAD").write_text(f"{other.vault.head}\n")
    report = other.sync()
    assert report.end is RoundEnd.WAITS and "a merge is under way" in report.trouble


def test_another_vault_is_not_joined_by_itself(pair: tuple[Machine, Machine], tmp_path: Path) -> None:
    one, _ = pair
    stranger = Machine("Cara", make_vault(tmp_path / "three", {"cara.md": "# Cara\n"}), one.remote)
    report = stranger.sync()
    assert report.wait is not None and report.wait.kind == "unrelated"
    stranger.synced(RemotePermission(join=True))
    assert {"cara.md", "plan.md"} < stranger.files()


def test_what_was_purged_here_does_not_come_back_with_the_next_sync(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    one.write("secret.md", "# Secret\n\nThe word is xyzzy.\n")
    one.synced()
    other.synced()
    other.write("tea.md", "# Tea\n\nSencha.\n")
    other.synced()
    (one.root / "secret.md").unlink()
    one.vault.commit_human()
    cleaning = Cleaning(["secret.md"], lambda path, data: None, "forgotten", frozenset(["secret.md"]))
    purge(one.vault, cleaning, token="purge", remote=True)
    one.synced()
    assert "Sencha." in one.read("tea.md") and "secret.md" not in one.files()
    log = git(one.remote, "log", "-p", "main")
    assert "xyzzy" not in log and "Sencha." in log
    report = other.sync()
    assert report.wait is not None and report.wait.paths == ("secret.md",)
    other.synced(RemotePermission(RemoteChoice.TAKE))
    assert other.vault.head == one.vault.head


def test_a_commit_made_during_the_push_is_sent_too(pair: tuple[Machine, Machine]) -> None:
    one, _ = pair

    def step(name: str) -> None:
        if name == "push" and not (one.root / "late.md").exists():
            one.write("late.md", "# Late\n")
            one.git("add", "-A")
            one.git("commit", "-q", "-m", "late")

    one.write("early.md", "# Early\n")
    report = SyncRound(one.vault, Network(one.vault.git), one.known(), step=step).run()
    assert report.end is RoundEnd.SYNCED and set(report.sent) == {"early.md", "late.md"}
    assert git(one.remote, "rev-parse", "main").strip() == one.vault.head == one.known().agreed
