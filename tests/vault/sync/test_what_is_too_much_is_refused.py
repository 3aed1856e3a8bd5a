"""What is too much to be read is refused by its number or its name and dropped; what comes after it arrives."""

import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from agent.config.receiving_limits import ReceivingLimits
from agent.git.repository import common_folder, ref_commit
from agent.vault.history.find import commits
from agent.vault.options import Options
from agent.vault.provenance.remotes import Writers, plain_address
from agent.vault.sync.round import RoundEnd
from tests.remotes import git_as
from tests.vault.sync.machines import Machine, another, two_machines
from tests.vaults import FAST

LIMITS = ReceivingLimits(files=500, depth=9, note=50_000, fetch=200_000)
SMALL = replace(FAST, receiving=LIMITS)


def made(remote: Path, kind: str, data: bytes) -> str:
    command = ["git", "hash-object", "-w", "-t", kind, "--stdin"]
    return subprocess.run(command, cwd=remote, input=data, capture_output=True, check=True).stdout.decode().strip()


def tree(remote: Path, rows: dict[str, tuple[str, str]]) -> str:
    items = sorted(rows.items(), key=lambda each: each[0] + ("/" if each[1][0] == "40000" else ""))
    data = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(oid) for name, (mode, oid) in items)
    return made(remote, "tree", data)


def bomb(remote: Path, levels: int, wide: int = 10) -> str:
    """A tree with `wide` to the power of `levels` files, made of one tree for each level."""
    at = tree(remote, {f"f{n}.md": ("100644", made(remote, "blob", b"x\n")) for n in range(wide)})
    for _ in range(levels - 1):
        at = tree(remote, {f"d{n}": ("40000", at) for n in range(wide)})
    return at


def push_tree(remote: Path, name: str, oid: str, mode: str = "40000") -> str:
    """A commit on the remote that adds this tree or file."""
    listed = git_as(remote, "Eve", "ls-tree", "main").splitlines()
    rows = {row.partition("\t")[2]: (row.split()[0].lstrip("0"), row.split()[2]) for row in listed}
    commit = git_as(
        remote, "Eve", "commit-tree", tree(remote, rows | {name: (mode, oid)}), "-p", "main", "-m", "x"
    ).strip()
    git_as(remote, "Eve", "update-ref", "refs/heads/main", commit)
    return commit


def tracked(machine: Machine) -> str:
    return ref_commit(common_folder(machine.vault.place.gitdir), "refs/remotes/origin/main")


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Machine, Machine]:
    return two_machines(tmp_path, {"tea.md": "# Tea\n"}, SMALL)


def test_ten_million_files_of_eight_trees_are_counted_and_not_listed(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    good = git_as(one.remote, "Eve", "rev-parse", "main").strip()
    commit = push_tree(one.remote, "bomb", bomb(one.remote, 7))
    two.write("mine.md", "my own\n")
    report = two.sync()
    assert report.end is RoundEnd.FAILED and commit[:12] in report.trouble and "500" in report.trouble
    assert tracked(two) == good and two.vault.changed_files() == []
    assert two.sync().trouble == report.trouble and two.known().refusal is not None
    git_as(one.remote, "Eve", "update-ref", "refs/heads/main", good)
    assert two.synced().trouble == "" and two.known().refusal is None


def test_what_is_taken_out_again_by_the_next_commit_is_refused_too(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    push_tree(one.remote, "bomb", bomb(one.remote, 3))
    after = git_as(one.remote, "Eve", "commit-tree", "main~1^{tree}", "-p", "main", "-m", "out").strip()
    git_as(one.remote, "Eve", "update-ref", "refs/heads/main", after)
    assert two.sync().end is RoundEnd.FAILED


def test_folders_in_folders_have_an_end(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    push_tree(one.remote, "deep", bomb(one.remote, 12, wide=1))
    assert "9 folders" in two.sync().trouble


def test_what_git_fetch_has_brought_is_read_by_nobody_and_dropped(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    good = tracked(two)
    push_tree(one.remote, "bomb", bomb(one.remote, 7))
    two.git("fetch", "-q")
    assert tracked(two) != good
    two.vault.provenance.look()
    assert commits(two.vault) and not [each for each in two.vault.provenance.unseen() if "bomb" in each.path]
    assert two.sync().end is RoundEnd.FAILED
    assert tracked(two) == good and not (two.root / ".git/FETCH_HEAD").exists()


def test_a_large_note_is_refused_by_its_name_unless_only_the_person_writes_there(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    push_tree(one.remote, "long.md", made(one.remote, "blob", b"word " * 12_000), "100644")
    report = two.sync()
    assert "long.md" in report.trouble and "largest_megabytes" in report.hint and not (two.root / "long.md").exists()
    two.vault.provenance.answers.answer(plain_address(str(two.remote)), Writers.ME)
    two.synced()
    assert len(two.read("long.md")) == 60_000


def test_a_file_that_is_small_only_while_it_travels_is_refused(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    push_tree(one.remote, "zeros.png", made(one.remote, "blob", bytes(900_000)), "100644")
    assert "zeros.png" in two.sync().trouble


def test_more_than_a_fetch_may_bring_is_cut_off_and_a_higher_limit_lets_it_in(
    pair: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = pair
    for n in range(5):
        noise = made(one.remote, "blob", Random(n).randbytes(90_000))
        push_tree(one.remote, f"noise{n}.png", noise, "100644")
    report = two.sync()
    assert report.end is RoundEnd.FAILED and "fetch_megabytes" in report.hint, report
    packs = list((two.root / ".git/objects").rglob("*.pack"))
    assert sum(pack.stat().st_size for pack in packs) < 250_000
    roomy = Machine("Bert", two.vault, two.remote)
    roomy.vault = replace(two.vault, options=Options(durable=False))
    roomy.synced()
    assert (two.root / "noise4.png").stat().st_size == 90_000
    assert another(tmp_path, "Carl", two.remote).read("tea.md") == "# Tea\n"
