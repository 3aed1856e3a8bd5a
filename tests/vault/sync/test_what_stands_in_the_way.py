"""What a person has in the way of a sync is never lost, never changed without need, and named where it has to wait."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.errors import UserError
from agent.vault.receiving.held_now import held_files
from agent.vault.receiving.release import release
from agent.vault.sync.round import RoundEnd
from tests.trust import checks
from tests.trust.editor import STYLES
from tests.trust.forks import PROJECT
from tests.trust.ledger import Ledger
from tests.vault.sync.machines import Machine, two_machines
from tests.vaults import FAST, git

PLAN = "# Plan\n\nold text\n\n- end\n"
NOTES = {f"n{number}.md": f"# n{number}\n\nold text\n\n- end\n" for number in range(10)}
SAVES = 2
BINARY = b"\x89PNG\0\0"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Machine, Machine]:
    return two_machines(tmp_path, {"plan.md": PLAN, "tea.md": "# Tea\n", ".obsidian/app.json": "{}\n"})


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("rounds", [SAVES, pytest.param(100, marks=pytest.mark.chaos)])
def test_what_is_typed_while_notes_arrive_is_kept(tmp_path: Path, style: str, rounds: int) -> None:
    one, other = two_machines(tmp_path, NOTES)
    ledger, journal = Ledger(tmp_path / "ledger.jsonl"), other.vault.writer.layout.journal
    arguments = [str(other.root), str(ledger.path), str(journal), style, f"arrive-{style}", *NOTES]
    command = [sys.executable, "-m", "tests.trust.editor", *arguments]
    with subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as editor:
        assert editor.stdin and editor.stdout
        for number in range(rounds):
            for name in NOTES:
                text = one.read(name) if (one.root / name).exists() else f"# {name.removesuffix('.md')}\n\n- end\n"
                one.write(name, text.replace("- end", f"agent {number} {name}\n- end", 1))
            one.synced()
            editor.stdin.write(f"{number}\n".encode())
            editor.stdin.flush()
            assert other.sync().end is not RoundEnd.FAILED
            assert editor.stdout.readline() == b"done\n"
            other.synced()
            one.synced()
        editor.stdin.close()
    other.synced()
    one.synced()
    saved = {text.strip() for line in ledger.lines() if line.kind == "saved" for text in line.files.values() if text}
    assert len(saved) == rounds * len(NOTES)
    found = {line.decode() for line in checks.reachable_lines(one.root)}
    assert not saved - found, f"{len(saved - found)} of {len(saved)} saves are lost"
    assert {f"agent {number} {name}" for number in range(rounds) for name in NOTES} <= found
    assert one.files() == other.files() and git(other.root, "status", "--porcelain") == ""
    checks.check_sound(other.root)


def test_an_ignored_file_where_one_arrives_keeps_its_text(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (other.root / ".git/info/exclude").write_text("private.md\n")
    other.write("private.md", "mine alone\n")
    one.write("private.md", "for all\n")
    one.synced()
    assert other.synced().held == ("private.md",)
    other.write("private.md", "mine alone, still\n")
    assert other.vault.commit_human().human is None and other.synced().sent == ()
    assert other.read("private.md") == "mine alone, still\n"
    assert other.vault.read_at("HEAD", "private.md") == b"for all\n"
    with pytest.raises(UserError):
        release(other.vault, held_files(other.vault))
    one.synced()
    assert one.vault.head == other.vault.head


def test_a_note_that_is_changed_and_not_committed_outlives_its_deletion_there(tmp_path: Path) -> None:
    one, other = two_machines(tmp_path, {"plan.md": PLAN, "tea.md": "# Tea\n"})
    (one.root / "plan.md").unlink()
    one.synced()
    with (other.root / "plan.md").open("a") as still_open:
        still_open.write("typed\n")
        still_open.flush()
        other.sync()
        assert "typed" in other.read("plan.md")
    other.synced()
    one.synced()
    assert "typed" in one.read("plan.md") and one.files() == other.files()


def _detach(machine: Machine) -> None:
    machine.git("checkout", "-q", "--detach")


def _rebase(machine: Machine) -> None:
    machine.write("plan.md", PLAN.replace("old text", "here"))
    machine.git("commit", "-q", "-am", "here")
    machine.git("fetch", "-q")
    with pytest.raises(AssertionError):
        machine.git("rebase", "-q", "origin/main")


def _other_branch(machine: Machine) -> None:
    machine.git("switch", "-q", "-c", "trial")


@pytest.mark.parametrize(("begin", "word"), [(_detach, "branch"), (_rebase, "rebase"), (_other_branch, "trial")])
def test_what_a_person_has_begun_in_git_is_theirs_to_end(
    pair: tuple[Machine, Machine], begin: Callable[[Machine], None], word: str
) -> None:
    one, other = pair
    one.write("plan.md", PLAN.replace("old text", "there"))
    one.synced()
    begin(other)
    before = other.git("status", "--porcelain=v2", "--branch"), other.read("plan.md"), other.vault.head
    report = other.sync()
    assert report.end is RoundEnd.WAITS and word in report.trouble and report.hint, report.trouble
    assert before == (other.git("status", "--porcelain=v2", "--branch"), other.read("plan.md"), other.vault.head)


def test_settings_of_an_editor_changed_on_both_sides_leave_no_copies(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    for machine, text in ((one, '{"theme": "light"}\n'), (other, '{"theme": "dark"}\n')):
        machine.write(".obsidian/app.json", text)
        machine.synced()
    one.synced()
    assert one.read(".obsidian/app.json") == other.read(".obsidian/app.json")
    assert one.files() == other.files() == {"plan.md", "tea.md", ".obsidian/app.json"}
    log = git(one.root, "log", "-p", "--full-history", "--", ".obsidian")
    assert "light" in log and "dark" in log


def test_a_picture_changed_on_both_sides_is_there_in_both_versions(pair: tuple[Machine, Machine]) -> None:
    one, other = pair
    (one.root / "map.png").write_bytes(BINARY)
    one.synced()
    other.synced()
    for number, machine in enumerate(pair):
        (machine.root / "map.png").write_bytes(BINARY + bytes([number]))
        machine.synced()
    one.synced()
    pictures = {path: (one.root / path).read_bytes() for path in one.files() if path.endswith(".png")}
    assert sorted(pictures.values()) == [BINARY + b"\0", BINARY + b"\1"] and "map.png" in pictures
    assert one.files() == other.files()


def _commit_entry(one: Machine, mode: str, oid: str, path: str) -> None:
    """Push a commit with an entry that no editor makes, as a stranger's git does."""
    rows = git(one.root, "ls-tree", "HEAD") + f"{mode} {'commit' if mode == '160000' else 'blob'} {oid}\t{path}\n"
    tree = subprocess.run(["git", "mktree", "--missing"], cwd=one.root, input=rows, capture_output=True, text=True)
    assert not tree.returncode, tree.stderr
    commit = one.git("commit-tree", "-p", "HEAD", "-m", "strange", tree.stdout.strip()).strip()
    one.git("push", "-q", str(one.remote), f"{commit}:main")


@pytest.mark.parametrize("also", [False, True], ids=["behind", "diverged"])
@pytest.mark.parametrize(
    ("mode", "path"),
    [("120000", "link.md"), ("160000", "module"), ("100644", ".vault-agent-x"), ("100644", "a\x07b.md")],
    ids=["link", "submodule", "temporary", "control"],
)
def test_what_cannot_be_a_file_here_is_set_aside_by_name_and_the_rest_comes(
    pair: tuple[Machine, Machine], mode: str, path: str, also: bool
) -> None:
    one, other = pair
    target = git(one.root, "hash-object", "-w", "plan.md").strip()
    _commit_entry(one, mode, one.vault.head or "" if mode == "160000" else target, path)
    if also:
        other.write("tea.md", "# Tea\n\nGreen.\n")
        other.vault.commit_human()
    files = other.files()
    assert other.synced().held == (path,)
    assert other.files() == files and other.git("status", "--porcelain") == "" and other.vault.changed_files() == []
    with pytest.raises(UserError):
        release(other.vault, held_files(other.vault))
    one.synced()
    one.write("later.md", "after it\n")
    one.synced()
    assert other.synced().received == ("later.md",) and [each.path for each in held_files(other.vault)] == [path]
    assert path in other.vault.git.run("ls-tree", "-r", "-z", "--name-only", "HEAD").decode().split("\0")


@pytest.mark.parametrize("path", [".git", ".GIT", ".git ", "git~1"])
def test_a_name_of_git_itself_does_not_even_arrive(pair: tuple[Machine, Machine], path: str) -> None:
    one, other = pair
    _commit_entry(one, "100644", git(one.root, "hash-object", "-w", "plan.md").strip(), path)
    files, head = other.files(), other.vault.head
    report = other.sync()
    assert report.end is RoundEnd.FAILED, report
    assert other.files() == files and other.vault.head == head


def test_merges_that_cross_lose_nothing(tmp_path: Path) -> None:
    one, other = two_machines(tmp_path, {"plan.md": "a\n\nb\n\nc\n\nd\n"}, FAST)
    one.write("plan.md", one.read("plan.md").replace("a\n", "a, one\n"))
    other.write("plan.md", other.read("plan.md").replace("d\n", "d, other\n"))
    one.vault.commit_human()
    other.vault.commit_human()
    one.git("fetch", "-q", str(other.root), "main:theirs")
    other.git("fetch", "-q", str(one.root), "main:theirs")
    for machine in (one, other):  # each merges the other's first commit by hand
        machine.git("merge", "-q", "--no-edit", "theirs")
    one.write("plan.md", one.read("plan.md").replace("b\n", "b, one\n"))
    other.write("plan.md", other.read("plan.md").replace("c\n", "c, other\n"))
    for machine in (one, other, one):
        machine.synced()
    assert one.read("plan.md") == other.read("plan.md") == "a, one\n\nb, one\n\nc, other\n\nd, other\n"
    assert one.files() == {"plan.md"}
