"""A note that is held is on disk at once, committed once, and in nobody else's name."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from agent.vault.change import Stamp
from agent.vault.health.status import status
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault
from agent.vault.write.held_notes import HeldNotes
from tests.trust import checks
from tests.vaults import FAST, git, make_vault, write

RECORD = "sessions/2026/11/tea.md"
STAMP = Stamp("agent", session=RECORD)


def hold(vault: Vault, line: str) -> None:
    """Add a line to the record, and hold it."""
    with vault.transaction(f"session: {line}", STAMP, masked=True, hold=True) as change:
        change.append(RECORD, f"agent {line}\n".encode())
    assert change.outcome.commit is None and not change.outcome.queued


def committed_by_hand(folder: Path) -> Vault:
    """A vault whose person commits everything by hand between the two lines of a record."""
    vault = make_vault(folder)
    hold(vault, "one")
    git(vault.place.root, "add", "-A")
    git(vault.place.root, "commit", "-qm", "all of it")
    hold(vault, "two")
    return vault


def end(vault: Vault) -> None:
    """What follows from the run, with its record, in one commit."""
    with vault.transaction("session: finished", Stamp("agent", run="r1", session=RECORD)) as change:
        change.release(RECORD)
        change.append("daily/2026-11-21.md", b"agent was asked\n", b"# 2026-11-21\n")
    assert change.outcome.commit


def subjects(root: Path) -> list[str]:
    return git(root, "log", "--format=%an: %s").splitlines()[:-1]


def at_head(root: Path, path: str = RECORD) -> str:
    return git(root, "show", f"HEAD:{path}")


def test_a_run_s_record_and_what_follows_from_it_are_one_commit(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    for line in "one", "two", "three":
        hold(vault, line)
        assert (root / RECORD).read_text().endswith(f"agent {line}\n")
    assert subjects(root) == []
    assert vault.changed_files() == [] and status(vault).dirty == () and not vault.commit_human().human
    assert vault.is_own_version(RECORD, vault.content_id((root / RECORD).read_bytes()))
    end(vault)
    assert subjects(root) == ["vault-agent: session: finished"]
    assert at_head(root) == "agent one\nagent two\nagent three\n"
    assert at_head(root, "daily/2026-11-21.md") == "# 2026-11-21\nagent was asked\n"
    assert git(root, "status", "--porcelain") == "" and not vault.writer.held.all()
    vault.commit_held()
    end(vault)
    assert len(subjects(root)) == 2, "there is nothing to release any more, and the rest is written"


def test_a_record_that_nothing_follows_from_is_committed_by_itself(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    hold(vault, "one")
    hold(vault, "two")
    vault.commit_held(("sessions/other.md",))
    assert subjects(vault.place.root) == []
    vault.commit_held((RECORD,))
    assert subjects(vault.place.root) == ["vault-agent: session: two"]


def test_a_later_run_in_the_same_note_is_one_commit_too(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {RECORD: "agent zero\n"})
    hold(vault, "one")
    hold(vault, "two")
    end(vault)
    assert len(subjects(vault.place.root)) == 1 and at_head(vault.place.root) == "agent zero\nagent one\nagent two\n"


@pytest.mark.parametrize("human_commits", [True, False])
def test_what_a_person_adds_meanwhile_is_theirs_and_stays(tmp_path: Path, human_commits: bool) -> None:
    vault = make_vault(tmp_path, options=Options(durable=False, human_commits=human_commits))
    root = vault.place.root
    hold(vault, "one")
    write(root / RECORD, "agent one\nhuman line\n")
    hold_after = (root / RECORD).read_text()
    end(vault)
    assert (root / RECORD).read_text() == hold_after, "on disk it is as they left it"
    assert at_head(root) == "agent one\n" and [item.path for item in vault.changed_files()] == [RECORD]
    vault.commit_human()
    assert at_head(root) == hold_after
    checks.check_attribution(root)
    ours = git(root, "log", "-p", "--format=", "--author=vault-agent", "-U0")
    assert "human line" not in ours


def test_a_step_after_a_person_s_edit_does_not_take_it_along(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    hold(vault, "one")
    write(root / RECORD, "human line\nagent one\n")
    with vault.transaction("session: two", STAMP, hold=True) as change:
        change.append(RECORD, b"agent two\n")
    assert at_head(root) == "human line\nagent one\nagent two\n"
    assert [line.partition(":")[0] for line in subjects(root)] == ["vault-agent", "Anna", "vault-agent"]
    checks.check_attribution(root)


def test_a_record_whose_process_has_gone_is_committed_by_the_next_write(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    program = f"""
from pathlib import Path
from agent.clock import SystemClock
from agent.vault.store import open_vault
from tests.vault.test_a_record_is_committed_once import FAST, hold
hold(open_vault(Path({str(root)!r}), Path({str(tmp_path / "state")!r}), SystemClock(), FAST), "one")
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[2])
    assert subjects(root) == []
    with vault.transaction("agent: another", Stamp("agent")) as change:
        change.create("other.md", b"agent\n")
    assert subjects(root) == ["vault-agent: agent: another", "vault-agent: session: one"]
    assert not vault.writer.held.all()


def test_a_crash_after_the_commit_does_not_bring_an_old_record_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    hold(vault, "one")
    with monkeypatch.context() as plant:
        plant.setattr(HeldNotes, "drop", lambda self, path: None)
        end(vault)
    write(root / RECORD, "agent one\nhuman line\n")
    git(root, "commit", "-qam", "a person's")
    vault.commit_held()
    assert at_head(root) == "agent one\nhuman line\n" and git(root, "status", "--porcelain") == ""


def test_a_person_who_commits_everything_by_hand_takes_the_record_along_and_nothing_is_lost(tmp_path: Path) -> None:
    vault = committed_by_hand(tmp_path)
    root = vault.place.root
    end(vault)
    assert at_head(root) == "agent one\nagent two\n" and git(root, "status", "--porcelain") == ""
    assert subjects(root) == ["vault-agent: session: finished", "Anna: all of it"]


def test_what_a_person_adds_after_they_committed_the_record_by_hand_is_theirs_alone(tmp_path: Path) -> None:
    vault = committed_by_hand(tmp_path)
    root = vault.place.root
    write(root / RECORD, (root / RECORD).read_text() + "human line\n")
    end(vault)
    vault.commit_human()
    assert at_head(root) == "agent one\nagent two\nhuman line\n"
    assert "+agent two" in git(root, "log", "-p", "--format=", "--author=vault-agent", "-U0")


def test_a_record_that_is_put_aside_meanwhile_is_whole_in_the_history(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    hold(vault, "one")
    git(root, "stash", "--include-untracked", "-q")
    with vault.transaction("session: two", STAMP, hold=True) as change:
        change.append(RECORD, b"agent two\n")
    end(vault)
    assert {b"agent one", b"agent two"} <= checks.reachable_lines(root)
    assert git(root, "log", "--format=%s", "-S", "agent one", "--", RECORD), "not only in what was put aside"


def test_a_record_that_its_person_deletes_stays_in_the_history(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    hold(vault, "one")
    (root / RECORD).unlink()
    end(vault)
    assert at_head(root) == "agent one\n"
    vault.commit_human()
    assert not (root / RECORD).exists() and git(root, "status", "--porcelain") == ""


def test_while_the_repository_is_busy_the_record_waits_with_the_rest(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    hold(vault, "one")
    (root / ".git/MERGE_HEAD").write_text(f"{vault.head}\n")
    with vault.transaction("session: two", STAMP, hold=True) as change:
        change.append(RECORD, b"agent two\n")
    assert change.outcome.queued
    (root / ".git/MERGE_HEAD").unlink()
    end(vault)
    assert at_head(root) == "agent one\nagent two\n" and git(root, "status", "--porcelain") == ""
    checks.check_attribution(root)


@pytest.mark.parametrize("seed", range(12))
def test_in_any_order_no_line_is_lost_and_each_is_in_its_writer_s_name(tmp_path: Path, seed: int) -> None:
    """The law: lines by this program and by a person, in one note, through steps, commits and ends."""
    vault = make_vault(tmp_path)
    root, rng, written = vault.place.root, Random(seed), list[str]()
    for number in range(14):
        match rng.choice(["hold", "hold", "hold", "person", "human", "end", "held", "again"]):
            case "hold":
                written.append(f"agent {number}")
                with vault.transaction("session: step", STAMP, hold=True) as change:
                    change.append(RECORD, f"agent {number}\n".encode())
            case "person":
                written.append(f"human {number}")
                text = (root / RECORD).read_text() if (root / RECORD).exists() else ""
                write(root / RECORD, f"human {number}\n{text}")
            case "human":
                vault.commit_human()
            case "end":
                end(vault)
            case "held":
                vault.commit_held()
            case "again":
                vault = open_vault(root, tmp_path / "state", vault.clock, FAST)
    end(vault)
    vault.commit_human()
    if written:
        assert sorted(at_head(root).splitlines()) == sorted(written)
        assert (root / RECORD).read_text() == at_head(root)
    assert git(root, "status", "--porcelain") == ""
    checks.check_attribution(root)
    ours = git(root, "log", "-p", "--format=", "--author=vault-agent", "-U0")
    assert "+human" not in ours and "-human" not in ours
    checks.check_sound(root)
