"""Promise 6, git and disk: what is called saved is saved, what is refused changed nothing, what waits is counted."""

import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.errors import AgentError
from agent.vault.change import Stamp
from agent.vault.options import Options
from agent.vault.store import open_vault
from tests.small_disk import mounted_disk
from tests.trust import checks
from tests.trust.faults import CODES, STATES, Fault, disk, faults
from tests.trust.honesty import check
from tests.trust.wipes import clear
from tests.vaults import committed, git, make_vault


@pytest.mark.parametrize("count", [20, pytest.param(500, marks=pytest.mark.chaos)])
def test_nothing_is_said_to_be_saved_that_is_not(tmp_path: Path, count: int) -> None:
    said = Counter[str]()
    for number, fault in enumerate(faults(count, "faults")):
        said[check(tmp_path / str(number), fault)] += 1
        clear(tmp_path / str(number))
    assert said.total() == count
    assert said["refused"] > count // 10 and said["committed"] > count // 20, said


@pytest.mark.chaos
@pytest.mark.parametrize("fault", STATES, ids=lambda fault: fault.name)
def test_every_state_of_a_repository_is_told_truly(tmp_path: Path, fault: Fault) -> None:
    assert check(tmp_path, fault) in {"refused", "queued", "committed"}


@pytest.mark.chaos
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize("at", range(1, 36))
def test_every_step_on_disk_may_fail(tmp_path: Path, at: int, lasting: bool) -> None:
    assert check(tmp_path, disk(CODES[at % len(CODES)], at, lasting)) in {"refused", "committed"}


@pytest.mark.parametrize("gone", ["^{tree}", ":notes"])
def test_a_folder_that_git_cannot_read_is_not_taken_for_an_empty_one(tmp_path: Path, gone: str) -> None:
    vault = make_vault(tmp_path, {"notes/a.md": "a\n", "notes/b.md": "b\n"})
    root = vault.place.root
    oid = git(root, "rev-parse", f"HEAD{gone}").strip()
    (root / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(AgentError), vault.transaction("agent: one", Stamp("agent", "r1")) as change:
        change.append("notes/a.md", b"more\n")
    assert [commit.run for commit in checks.commits(root)] == [""]
    assert (root / "notes/a.md").read_text() == "a\n"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted_disk(tmp_path, 1) as place:
        yield place


def test_on_a_full_disk_nothing_is_half_written_and_later_it_goes_on(small_disk: Path) -> None:
    vault = make_vault(small_disk, {"note.md": "# note\n"})
    root, said = vault.place.root, Counter[str]()
    for number in range(300):
        try:
            with vault.transaction("agent: fill", Stamp("agent", f"r{number}")) as change:
                change.create(f"notes/{number}.md", os.urandom(12_000))
                change.append("note.md", f"agent {number}\n".encode())
        except AgentError:
            said["refused"] += 1
            assert not (root / f"notes/{number}.md").exists()
            if said["refused"] > 5:
                break
        else:
            assert change.outcome.commit and committed(root, f"notes/{number}.md") is not None
            said["committed"] += 1
    assert said["committed"] > 5 and said["refused"] > 5, said
    written = said["committed"]
    runs = {commit.run for commit in checks.commits(root)}
    assert len(runs - {""}) == written
    assert (root / "note.md").read_text().count("agent ") == written
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
    with open_vault(root, small_disk / "state", SystemClock(), Options()).transaction(
        "agent: after", Stamp("agent", "after")
    ) as change:
        change.create("after.md", b"agent after\n")
    assert change.outcome.commit
    checks.check_sound(root)
    assert git(root, "status", "--porcelain") == ""
