"""A file that the remote does not take stays on its machine, and everything else goes on."""

import os
from pathlib import Path

from tests.vault.sync.machines import two_machines
from tests.vaults import git

NOTES = {"plan.md": "# Plan\n", "tea.md": "# Tea\n"}


def test_notes_before_and_after_it_arrive_and_the_file_stays(tmp_path: Path) -> None:
    one, other = two_machines(tmp_path, NOTES)
    git(one.remote, "config", "receive.maxInputSize", "1000000")
    film = os.urandom(3_000_000)
    one.write("plan.md", "# Plan\n\nBefore.\n")
    one.vault.commit_human()
    (one.root / "film [1] .bin").write_bytes(film)
    one.write("tea.md", "# Tea\n\nWith it.\n")
    one.vault.commit_human()
    one.write("after.md", "# After\n")
    report = one.synced()
    assert one.known().left_out == ("film [1] .bin",) and report.rescued
    assert (one.root / "film [1] .bin").read_bytes() == film
    other.synced()
    assert other.read("tea.md") == "# Tea\n\nWith it.\n" and other.read("after.md") == "# After\n"
    assert other.files() == {"plan.md", "tea.md", "after.md"}
    assert git(one.root, "status", "--porcelain") == ""
    assert one.synced().sent == () and one.vault.head == other.vault.head
    assert git(one.root, "log", "--format=%an %s", "-3").splitlines()[2].startswith("Anna human(notes)")
    assert git(one.root, "cat-file", "-s", f"{report.rescued}:film [1] .bin").strip() == "3000000"
