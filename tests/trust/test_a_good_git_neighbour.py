"""Promise 14: beside an auto-committer and a status poller ours succeed, stay ours, and leave staged work alone."""

from pathlib import Path

import pytest

from agent.vault.change import Stamp
from agent.vault.options import Options
from tests.trust import checks
from tests.trust.company import FEW, Company, beside, change
from tests.trust.ledger import Ledger
from tests.trust.neighbour import at_work
from tests.vaults import git, make_vault, write

SIZES = [50, pytest.param(1000, marks=pytest.mark.chaos)]


@pytest.mark.parametrize("changes", SIZES)
def test_beside_an_auto_committer_and_a_poller(tmp_path: Path, changes: int) -> None:
    total = beside(tmp_path, changes, "committer", "poller")
    assert total.theirs > FEW, "the neighbour was hardly at work"
    assert total.committed + total.queued >= 0.999 * total.made, total
    assert total.committed >= 0.95 * total.made, total


@pytest.mark.parametrize("changes", SIZES)
def test_beside_a_program_that_takes_no_lock(tmp_path: Path, changes: int) -> None:
    total = beside(tmp_path, changes, "plumber")
    assert total.theirs > FEW, "the neighbour was hardly at work"
    assert total.committed >= 0.999 * total.made, total


@pytest.mark.parametrize("changes", SIZES)
def test_what_a_person_has_staged_stays_staged_byte_for_byte(tmp_path: Path, changes: int) -> None:
    vault = make_vault(tmp_path, {"notes/shared.md": "# Shared\n", "mine.md": "one\n"})
    root, ledger, total = vault.place.root, Ledger(tmp_path / "ledger.jsonl"), Company()
    with at_work(root, ledger, "poller"):
        for number in range(changes):
            if number % 10 == 0:
                write(root / "mine.md", f"one\ntwo {number}\n")
                write(root / "new" / f"{number}.md", "new\n")
                stage_in_between(root, "mine.md", f"new/{number}.md")
            staged = git(root, "diff", "--cached")
            change(vault, ledger, f"m{number:04d}", total)
            assert git(root, "diff", "--cached") == staged
    assert total.committed == changes
    made = {commit.run: commit for commit in checks.commits(root)}
    assert all(made[f"m{number:04d}"].author == checks.AGENT for number in range(changes))
    assert not (root / ".git" / "index.lock").exists()


def stage_in_between(root: Path, *paths: str) -> None:
    """`git add`, as often as it takes: the poller's lock is in the person's way too."""
    for _ in range(50):
        git(root, "add", *paths, check=False)
        if not git(root, "ls-files", "--modified", "--others", "--", *paths):
            return
    raise AssertionError("git add found no moment without a lock")


@pytest.mark.parametrize("human_commits", [True, False], ids=["human commits on", "human commits off"])
def test_a_note_that_is_staged_and_then_changed_by_the_agent_keeps_its_staged_change(
    tmp_path: Path, human_commits: bool
) -> None:
    text = "".join(f"line {number}\n" for number in range(30))
    vault = make_vault(tmp_path, {"note.md": text}, options=Options(durable=False, human_commits=human_commits))
    root = vault.place.root
    write(root / "note.md", text.replace("line 3\n", "line three\n"))
    git(root, "add", "note.md")
    staged = git(root, "diff", "--cached").partition("@@")[2]
    with vault.transaction("agent(notes): a line", Stamp("agent", "r1")) as transaction:
        transaction.append("note.md", b"from the agent\n")
    assert git(root, "diff", "--cached").partition("@@")[2] == staged
    assert git(root, "show", "--format=%an", "HEAD").startswith(checks.AGENT)
    assert "three" not in git(root, "show", "HEAD:note.md")
    assert git(root, "show", "HEAD:note.md") == text + "from the agent\n"
    assert git(root, "diff") == ""
    assert transaction.outcome.commit
