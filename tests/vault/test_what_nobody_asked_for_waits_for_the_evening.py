"""What nobody has asked for is in the notes at once, and one commit in the evening; nothing of it is lost or theirs."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from agent.memory.blame import DAILY, blamed_lines
from agent.vault.change import EVENING, FORGET, Stamp
from agent.vault.health.status import status
from agent.vault.history.find import commits
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection, last_change
from agent.vault.store import Vault, open_vault
from agent.vault.waiting import commit_waiting, waiting_notes
from agent.vault.write.held_notes import LONGEST_WAIT, HeldNotes
from tests.fakes import FakeClock
from tests.trust import checks
from tests.vault.sync.machines import two_machines
from tests.vaults import FAST, git, make_vault, write

HISTORY = "jobs/history/tea.md"
FACT = "entries/2026/11/vera.md"
MEMORY = "MEMORY.md"


def skip(vault: Vault, at: str = "09:00") -> None:
    """A job was skipped."""
    with vault.unasked.transaction("jobs(skipped): tea", Stamp("job:tea", tool="jobs")) as change:
        change.append(HISTORY, f"- {at} skipped: too soon\n".encode(), b"# tea\n")


def read_a_fact(vault: Vault) -> None:
    """A fact was read in a talk; it stands in two notes."""
    with vault.unasked.transaction("memory(facts): kept 1 of a conversation", Stamp("agent", tool="capture")) as change:
        change.create(FACT, b"Vera lives in Lyon.\n")
        change.append(MEMORY, b"- Vera lives in Lyon. [[vera]]\n")


def ran(vault: Vault, run: str = "r1") -> None:
    """The job ran, as its person wants it."""
    with vault.transaction("job(done): tea", Stamp("job:tea", run=run, tool="capture")) as change:
        change.append(HISTORY, b"- 10:00 done\n", b"# tea\n")


def subjects(root: Path) -> list[str]:
    return git(root, "log", "--format=%an: %s").splitlines()[:-1]


def body(root: Path, commit: str = "HEAD") -> str:
    return git(root, "log", "-1", "--format=%b", commit)


def test_all_of_it_is_one_commit_in_the_evening_and_each_reason_is_in_it(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    skip(vault)
    skip(vault, "09:30")
    read_a_fact(vault)
    assert (root / FACT).exists() and (root / HISTORY).read_text().count("skipped") == 2, "it can be read at once"
    assert subjects(root) == [] and vault.changed_files() == [] and status(vault).dirty == ()
    assert not vault.commit_human().human, "and is no edit of the person's"
    assert [each.path for each in waiting_notes(vault)] == [HISTORY, FACT, MEMORY]
    commit_waiting(vault)
    assert subjects(root) == ["vault-agent: evening: 2"]
    assert body(root).startswith("- jobs(skipped): tea\n- memory(facts): kept 1 of a conversation\n")
    assert f"Vault-Tool: {EVENING}" in body(root) and git(root, "status", "--porcelain") == ""
    commit_waiting(vault)
    assert len(subjects(root)) == 1 and waiting_notes(vault) == ()


def test_one_thing_alone_keeps_its_own_subject_and_actor(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    skip(vault)
    commit_waiting(vault)
    assert subjects(vault.place.root) == ["vault-agent: jobs(skipped): tea"]
    assert "Vault-Actor: job:tea" in body(vault.place.root)


def test_the_next_commit_of_that_history_takes_it_along_and_nothing_else(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    skip(vault)
    read_a_fact(vault)
    ran(vault)
    assert subjects(root) == ["vault-agent: job(done): tea"]
    assert git(root, "show", f"HEAD:{HISTORY}") == "# tea\n- 09:00 skipped: too soon\n- 10:00 done\n"
    assert [each.path for each in waiting_notes(vault)] == [FACT, MEMORY]


def test_what_is_asked_for_is_never_delayed_and_taking_it_back_leaves_the_rest(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {MEMORY: "# Memory\n\n"})
    root = vault.place.root
    read_a_fact(vault)
    with vault.transaction("memory(entry): remember tea", Stamp("agent", run="r2", tool="memory_save")) as change:
        change.append(MEMORY, b"- I like tea.\n")
    assert change.outcome.commit and subjects(root)[0] == "vault-agent: memory(entry): remember tea"
    undo(vault, Selection(commits=(change.outcome.commit,)))
    assert (root / MEMORY).read_text() == "# Memory\n\n- Vera lives in Lyon. [[vera]]\n" and (root / FACT).exists()


def test_it_can_be_taken_back_while_it_waits_each_thing_by_itself(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    with vault.transaction("vault(write): asked", Stamp("agent", run="r1", tool="vault_write")) as change:
        change.create("asked.md", b"agent\n")
    with vault.unasked.transaction("task(explore): tea", Stamp("job:task/1", run="r9", tool="procedure")) as change:
        change.create("research/tea.md", b"Tea.\n")
    read_a_fact(vault)
    assert last_change(list(commits(vault)), vault.home) == Selection(run="r1"), "the last thing that was asked for"
    undo(vault, Selection(run="r9"))
    assert not (root / "research/tea.md").exists() and (root / FACT).exists() and (root / "asked.md").exists()
    assert subjects(root)[0].startswith("vault-agent: undo(notes)") and waiting_notes(vault) == ()


def test_a_dry_run_tells_what_waits_and_commits_nothing(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    with vault.unasked.transaction("task(explore): tea", Stamp("job:task/1", run="r9", tool="procedure")) as change:
        change.create("research/tea.md", b"Tea.\n")
    read_a_fact(vault)
    waited, history = waiting_notes(vault), git(root, "log", "--format=%H")
    for selection, paths in {
        Selection(run="r9"): {"research/tea.md"},
        Selection(actor="agent"): {FACT, MEMORY},
        Selection(since=vault.clock.now() - timedelta(hours=1)): {"research/tea.md", FACT, MEMORY},
        Selection(since=vault.clock.now() + timedelta(hours=1)): set(),
    }.items():
        found = undo(vault, selection, dry_run=True)
        assert {each.path for each in found.files} == paths
    assert (waiting_notes(vault), git(root, "log", "--format=%H")) == (waited, history)
    done = undo(vault, Selection(since=vault.clock.now() - timedelta(hours=1)))
    assert len(done.files) == 3 and waiting_notes(vault) == ()


def test_a_person_who_edits_the_note_meanwhile_has_their_lines_and_no_others(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    read_a_fact(vault)
    write(root / MEMORY, (root / MEMORY).read_text() + "human line\n")
    vault.commit_human()
    assert subjects(root)[0].startswith("Anna: human(notes): edited MEMORY")
    checks.check_attribution(root)
    assert "Vera" not in git(root, "log", "-p", "--format=", "--author=Anna", "-U0")
    assert [each.path for each in waiting_notes(vault)] == [FACT], "the rest waits on"


def test_a_person_who_commits_everything_by_hand_ends_the_wait(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    skip(vault)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all of it")
    commit_waiting(vault)
    assert subjects(root) == ["Anna: all of it"] and waiting_notes(vault) == ()
    ran(vault)
    assert git(root, "show", f"HEAD:{HISTORY}").count("skipped") == 1


def test_it_waits_for_whichever_process_and_a_day_at_most(tmp_path: Path) -> None:
    clock = FakeClock()
    root = make_vault(tmp_path, clock=clock).place.root

    def opened() -> Vault:
        return open_vault(root, tmp_path / "state", clock, FAST)

    skip(opened())
    read_a_fact(opened())
    with opened().transaction("vault(write): one", Stamp("agent")) as change:
        change.create("one.md", b"one\n")
    assert subjects(root) == ["vault-agent: vault(write): one"], "a new process leaves it as it is"
    clock.advance(LONGEST_WAIT)
    with opened().transaction("vault(write): two", Stamp("agent")) as change:
        change.create("two.md", b"two\n")
    assert subjects(root)[:2] == ["vault-agent: vault(write): two", "vault-agent: evening: 2"]


def test_a_commit_that_is_looked_up_later_does_not_wait_and_neither_does_a_moved_note(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"old.md": "old\n"})
    root = vault.place.root
    skip(vault)
    with vault.unasked.transaction("memory(upkeep): 1 archived", Stamp("agent", tool="lifecycle")) as change:
        change.move("old.md", "archive/old.md")
    with vault.unasked.transaction("memory(beliefs): 1 line", Stamp("agent"), body="Seen up to 1") as change:
        change.create("profile/31.md", b"agent\n")
    with vault.unasked.transaction("vault(write): two", Stamp("agent", run="r1", call="c1")) as change:
        change.create("two.md", b"agent\n")
    made = ["vault(write): two", "memory(beliefs): 1 line", "memory(upkeep): 1 archived"]
    assert subjects(root) == [f"vault-agent: {each}" for each in made]
    assert [each.path for each in waiting_notes(vault)] == [HISTORY], "taking one of them back takes nothing else"


def test_a_crash_between_the_note_and_its_record_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root

    def killed(self: HeldNotes, note: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as plant:
        plant.setattr(HeldNotes, "put", killed)
        with pytest.raises(KeyboardInterrupt):
            skip(vault)
    vault.settle()
    assert subjects(root) == ["vault-agent: jobs(skipped): tea"] and git(root, "status", "--porcelain") == ""


def test_text_whose_record_cannot_be_read_is_still_not_the_persons(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    skip(vault)
    write(root / "mine.md", "human\n")
    for file in vault.layout.held.glob("*.json"):
        file.write_text("{", "utf-8")
    vault.commit_human()
    commit_waiting(vault)
    assert git(root, "log", "--format=%an", "--", HISTORY).split() == ["vault-agent"]
    assert git(root, "log", "--format=%an", "--", "mine.md").split() == ["Anna"]
    checks.check_attribution(root)
    assert vault.writer.held.unreadable() == [] and git(root, "status", "--porcelain") == ""


def test_its_lines_are_the_programs_own_while_they_wait(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {MEMORY: "human line\n"})
    with vault.unasked.transaction("memory(daily): a line", Stamp("agent", tool=DAILY)) as change:
        change.append(MEMORY, b"agent line\n")
    lines = blamed_lines(vault, MEMORY, (vault.place.root / MEMORY).read_bytes())
    assert [(each.text.strip(), each.own) for each in lines] == [("human line", False), ("agent line", True)]


def test_beside_a_plugin_that_commits_everything_nothing_waits(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {".obsidian/plugins/obsidian-git/manifest.json": "{}"})
    skip(vault)
    assert subjects(vault.place.root) == ["vault-agent: jobs(skipped): tea"] and waiting_notes(vault) == ()


@pytest.mark.parametrize(
    ("enabled", "settings", "waits"),
    [
        (["obsidian-git"], {"autoSaveInterval": 10}, False),
        (["obsidian-git"], {"autoSaveInterval": 0, "autoBackupAfterFileChange": True}, False),
        (["obsidian-git"], {"autoSaveInterval": 0}, True),
        (["dataview"], {"autoSaveInterval": 10}, True),
    ],
)
def test_beside_one_that_commits_only_when_it_is_told_to_it_waits(
    tmp_path: Path, enabled: list[str], settings: dict[str, object], waits: bool
) -> None:
    vault = make_vault(tmp_path)
    write(vault.place.root / ".obsidian/community-plugins.json", json.dumps(enabled))
    write(vault.place.root / ".obsidian/plugins/obsidian-git/data.json", json.dumps(settings))
    skip(vault)
    assert bool(waiting_notes(vault)) is waits


def test_beside_one_that_is_installed_later_nothing_more_waits(tmp_path: Path) -> None:
    vault = make_vault(tmp_path).unasked
    write(vault.place.root / ".obsidian/plugins/obsidian-git/manifest.json", "{}")
    skip(vault)
    assert subjects(vault.place.root) == ["vault-agent: jobs(skipped): tea"] and waiting_notes(vault) == ()


def test_what_is_forgotten_while_it_waits_never_comes_into_the_history(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {MEMORY: "# Memory\n\n"})
    root = vault.place.root
    read_a_fact(vault)
    with vault.transaction("memory(forget): 1 memory", Stamp("human", tool=FORGET)) as change:
        change.delete(FACT)
        change.edit(MEMORY, (root / MEMORY).read_bytes(), b"# Memory\n\n")
    assert "Lyon" not in git(root, "log", "-p", "--all") and not (root / FACT).exists()
    assert waiting_notes(vault) == () and git(root, "status", "--porcelain") == ""


def test_a_note_that_arrives_changed_finds_what_waited_in_it_committed(tmp_path: Path) -> None:
    one, two = two_machines(tmp_path, {MEMORY: "# Memory\n\n- tea\n"})
    two.write(MEMORY, "# Memory\n\n- green tea\n")
    two.vault.commit_human()
    two.synced()
    read_a_fact(one.vault)
    one.synced()
    assert one.read(MEMORY) == "# Memory\n\n- green tea\n- Vera lives in Lyon. [[vera]]\n"
    assert [each.path for each in waiting_notes(one.vault)] == [FACT], "the rest waits on"
    commit_waiting(one.vault)
    one.synced()
    two.synced()
    assert two.read(FACT) == "Vera lives in Lyon.\n" and two.read(MEMORY) == one.read(MEMORY)


def test_one_damaged_record_changes_no_other(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    skip(vault)
    read_a_fact(vault)
    kept = {each.path: (each.changes, each.subject) for each in waiting_notes(vault) if each.path != HISTORY}
    for record in vault.layout.held.glob("*.json"):
        if HISTORY in record.read_text():
            record.write_text("{")
    assert not vault.commit_human().human
    found = {each.path: (each.changes, each.subject) for each in waiting_notes(vault)}
    assert {path: said for path, said in found.items() if path != HISTORY} == kept
    assert found[HISTORY][0] == (f"recovered: {HISTORY}",)


def test_what_waits_in_a_note_that_a_run_holds_is_named_in_the_evening(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    with vault.transaction("session: begun", Stamp("agent", run="r1"), hold=True) as change:
        change.create("sessions/tea.md", b"Tea.\n")
    with vault.unasked.transaction("memory(daily): a line", Stamp("agent")) as change:
        change.append("sessions/tea.md", b"A line.\n")
    with vault.unasked.transaction("jobs(skipped): tea", Stamp("agent")) as change:
        change.append(HISTORY, b"- skipped\n", b"# tea\n")
        change.release("sessions/tea.md")
    commit_waiting(vault)
    assert "- memory(daily): a line\n" in body(vault.place.root) and "- jobs(skipped): tea\n" in body(vault.place.root)
