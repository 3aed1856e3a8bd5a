"""Names that are no UTF-8, and times that no calendar has: what has them arrives, and stops nothing."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.git.identities import at_seconds, git_time
from agent.vault.health.status import status
from agent.vault.history.find import commits
from agent.vault.sync.distance import distances
from tests.remotes import git_as
from tests.vault.sync.machines import two_machines

LATIN = os.fsdecode(b"caf\xe9 d'\xe9t\xe9.md")


def test_a_latin_name_is_kept_byte_by_byte_and_goes_on_to_the_next_machine(tmp_path: Path) -> None:
    one, two = two_machines(tmp_path, {"tea.md": "# Tea\n"})
    one.write(LATIN, "# Coffee\n")
    one.synced()
    two.synced()
    assert LATIN in {path.name for path in two.root.iterdir()}
    two.write(LATIN, "# Coffee\n\nwith milk\n")
    two.synced()
    one.synced()
    assert one.read(LATIN) == "# Coffee\n\nwith milk\n"
    assert two.vault.provenance.strangers(LATIN, b"# Coffee\n") and [commit.subject for commit in commits(two.vault)]
    (one.root / LATIN).unlink()
    one.synced()
    two.synced()
    assert two.vault.provenance.arrived(LATIN, None) and not (two.root / LATIN).exists()


@pytest.mark.parametrize(
    "when", ["253402300800 +0000", "-4000000000 +0000", "99999999999999 -0730", "1 +9999", "7 -2460"]
)
def test_a_commit_of_any_time_arrives_and_the_next_one_too(tmp_path: Path, when: str) -> None:
    one, two = two_machines(tmp_path, {"tea.md": "# Tea\n"})
    tree, head = (git_as(one.remote, "Eve", "rev-parse", each).strip() for each in ("main^{tree}", "main"))
    raw = f"tree {tree}\nparent {head}\nauthor \xe9 <e> {when}\ncommitter \xe9 <e> {when}\nencoding latin1\n\nhi\n"
    command = ["git", "hash-object", "-w", "--literally", "-t", "commit", "--stdin"]
    oid = subprocess.run(command, cwd=one.remote, input=raw.encode("latin1"), capture_output=True, check=True).stdout
    git_as(one.remote, "Eve", "update-ref", "refs/heads/main", oid.decode().strip())
    two.write("two.md", "here\n")
    two.synced()
    assert status(two.vault).last is not None and list(distances(two.vault, 0)) is not None
    assert len(commits(two.vault)) >= 3
    one.write("one.md", "there\n")
    one.synced()
    two.synced()
    assert two.read("one.md") == "there\n"


@given(st.integers(-(10**25), 10**25), st.sampled_from(["", "+0000", "-1200", "+9999", "-0001", "0530"]))
def test_every_number_is_a_time_and_their_order_stays(seconds: int, zone: str) -> None:
    found = git_time(f"{seconds} {zone}")
    assert at_seconds(seconds - 5) <= at_seconds(seconds) <= at_seconds(seconds + 5)
    assert found.astimezone().isoformat() and (found == at_seconds(seconds) or abs(seconds) >= 10**20)


@given(st.text())
def test_what_is_no_time_is_1970(text: str) -> None:
    assert git_time("x" + text) == at_seconds(0)
