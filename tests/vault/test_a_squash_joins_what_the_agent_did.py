"""Old commits of the agent become one a day; everything else stays, and the history as it was is kept aside."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.errors import UserError
from agent.vault.change import Stamp
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit
from agent.vault.history.find import commits
from agent.vault.history.purge import RESCUES
from agent.vault.history.squash import plan_squash, squash
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from agent.vault.options import Options
from agent.vault.provenance.remotes import Writers
from agent.vault.store import Vault, open_vault
from tests.fakes import FakeClock
from tests.remotes import shared_with_mallory
from tests.vaults import FAST, git, head, make_vault, write

START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 1, tzinfo=UTC)


class Days:
    """A vault on whose days the agent and Anna work."""

    def __init__(self, folder: Path, options: Options = FAST) -> None:
        self.clock = FakeClock(START)
        self.vault = make_vault(folder, {"plan.md": "# Plan\n"}, clock=self.clock, options=options)
        self.root = self.vault.place.root
        self.count = 0

    def agent(self, run: str, path: str = "") -> str:
        """One commit of a run, a minute after the last."""
        self.clock.elapsed += 60
        self.count += 1
        with self.vault.transaction(f"edit(notes): step {self.count}", Stamp(run=run, tool="edit")) as tx:
            tx.create(path or f"note {self.count}.md", f"text {self.count}\n".encode())
        assert tx.outcome.commit
        return tx.outcome.commit

    def anna(self, text: str) -> str:
        """One commit by hand."""
        self.clock.elapsed += 60
        when = f"{int(self.clock.now().timestamp())} +0200"
        write(self.root / "mine.md", text)
        git(self.root, "add", "-A")
        git(self.root, "-c", "core.commentChar=%", "commit", "-q", "-m", f"mine: {text}", f"--date={when}")
        return head(self.root)

    def next_day(self) -> None:
        self.clock.elapsed += timedelta(days=1).total_seconds()


def week(folder: Path) -> Days:
    days = Days(folder)
    for step in range(3):
        days.agent(f"01RUN{step}")
    days.anna("first")
    days.agent("02RUN")
    days.agent("02RUN")
    days.next_day()
    days.agent("03RUN")
    days.next_day()
    days.agent("04RUN")
    days.agent("05RUN")
    days.anna("second")
    return days


def tree(root: Path, revision: str = "HEAD") -> str:
    return git(root, "rev-parse", f"{revision}^{{tree}}").strip()


def told(commit: Commit) -> tuple[object, ...]:
    return commit.subject, commit.when, commit.author, commit.actor, commit.run, commit.body


def test_days_of_the_agent_become_one_commit_each_and_a_persons_stay(tmp_path: Path) -> None:
    days = week(tmp_path)
    before, old, files = head(days.root), commits(days.vault), tree(days.root)
    write(days.root / "plan.md", "# Plan\nnot saved yet\n")
    plan = plan_squash(days.vault, LATER)
    assert [len(group) for group in plan.groups] == [3, 2, 2] and head(days.root) == before

    done = squash(days.vault, LATER, token="01T")

    assert tree(days.root) == files and done.head == head(days.root)
    assert git(days.root, "status", "--porcelain") == " M plan.md\n", "neither index nor files were touched"
    now = commits(days.vault)
    assert [told(each) for each in now if each.actor == HUMAN] == [told(each) for each in old if each.actor == HUMAN]
    assert [each.subject for each in now if each.actor != HUMAN] == [
        "squash(history): 2 commits in one",
        "edit(notes): step 6",
        "squash(history): 2 commits in one",
        "squash(history): 3 commits in one",
    ]
    assert "- edit(notes): step 1\n- edit(notes): step 2\n- edit(notes): step 3" in now[-2].body
    assert git(days.root, "rev-parse", RESCUES + "01T").strip() == before
    listed = git(tmp_path, "bundle", "list-heads", str(done.bundle))
    assert before in listed and not done.bundle.is_relative_to(days.root)
    git(days.root, "fsck", "--strict")


def test_only_commits_older_than_the_time_are_joined(tmp_path: Path) -> None:
    days = week(tmp_path)
    plan = plan_squash(days.vault, START + timedelta(hours=12))
    assert [len(group) for group in plan.groups] == [3, 2]
    with pytest.raises(UserError):
        squash(days.vault, START - timedelta(days=1), token="01T")


def test_an_undo_says_that_a_run_was_squashed(tmp_path: Path) -> None:
    days = week(tmp_path)
    (first,) = (each.id for each in commits(days.vault, run="01RUN1"))
    done = squash(days.vault, LATER, token="01T")
    joined = git(days.root, "log", "--format=%H", "--grep=3 commits in one").strip()
    for selection in (Selection(run="01RUN1"), Selection(commits=(first[:10],))):
        with pytest.raises(UserError) as told_so:
            undo(days.vault, selection)
        assert joined[:10] in str(told_so.value.message)
    assert days.vault.read("note 2.md") is not None
    undone = undo(days.vault, Selection(commits=(joined,)))
    assert undone.undone == (joined,) and days.vault.read("note 2.md") is None
    assert done.plan.joined == 7


def test_a_run_whose_commits_were_joined_with_no_other_is_undone_as_before(tmp_path: Path) -> None:
    days = week(tmp_path)
    squash(days.vault, LATER, token="01T")
    assert len(undo(days.vault, Selection(run="02RUN")).undone) == 1
    assert days.vault.read("note 4.md") is None and days.vault.read("note 5.md") is None


def test_merges_and_undos_stay(tmp_path: Path) -> None:
    days = Days(tmp_path)
    days.agent("01RUN")
    kept = days.agent("01RUN", "kept.md")
    days.agent("02RUN")
    undo(days.vault, Selection(commits=(kept,)))
    base = head(days.root)
    days.agent("02RUN")
    git(days.root, "branch", "side", base)
    other = git(days.root, "commit-tree", "-p", "side", "-m", "elsewhere", tree(days.root, "side")).strip()
    git(days.root, "merge", "-q", "--no-edit", "-m", "both", other)
    days.agent("02RUN")
    days.agent("03RUN")
    shape = [len(each.parents) for each in commits(days.vault)]
    squash(days.vault, LATER, token="01T")
    now = commits(days.vault)
    assert [len(each.parents) for each in now] == shape[1:], "only the last two were joined"
    (again,) = (each.id for each in now if each.subject == "edit(notes): step 2")
    assert [word.reason for word in undo(days.vault, Selection(commits=(again,))).skipped] == ["it is undone already"]


def test_what_others_have_is_left_as_it_is(tmp_path: Path) -> None:
    days = week(tmp_path)
    mallory = shared_with_mallory(days.root, tmp_path)
    before = head(days.root)
    for remote in (False, True):
        with pytest.raises(UserError) as refused:
            squash(days.vault, LATER, token="01T", remote=remote)
        assert "others write" in str(refused.value.message)
    days.vault.provenance.answers.answer(str(mallory.remote).removesuffix(".git"), Writers.ME)
    with pytest.raises(UserError) as asked:
        squash(days.vault, LATER, token="01T")
    assert "--yes-remote" in str(asked.value.hint)
    assert head(days.root) == before and not list(tmp_path.rglob("*.bundle"))
    assert squash(days.vault, LATER, token="01T", remote=True).head == head(days.root)


def test_a_commit_that_only_claims_to_be_the_agents_is_not_joined(tmp_path: Path) -> None:
    days = week(tmp_path)
    for name in ("x.md", "y.md"):
        write(days.root / name, "from elsewhere\n")
        git(days.root, "add", "-A")
        message = "edit(notes): mine\n\nVault-Actor: agent\nVault-Run: 09RUN"
        git(days.root, "-c", "user.name=vault-agent", "commit", "-q", "-m", message, "--date=2025-03-02T10:00:00Z")
    squash(days.vault, LATER, token="01T")
    assert [each.subject for each in commits(days.vault, limit=2)] == ["edit(notes): mine"] * 2
    assert not commits(days.vault, run="09RUN")


def test_a_second_squash_follows_the_first(tmp_path: Path) -> None:
    days = week(tmp_path)
    squash(days.vault, START + timedelta(hours=12), token="01T")
    squash(days.vault, LATER, token="02T")
    with pytest.raises(UserError) as told_so:
        undo(days.vault, Selection(run="01RUN1"))
    shown = str(told_so.value.message)
    assert any(each.id[:10] in shown for each in commits(days.vault)), "the commit that it names exists"


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from agent.clock import SystemClock
from agent.vault.history.squash import squash
from agent.vault.history.commit_index import HUMAN
from agent.vault.options import Options
from agent.git.runner import Git
from agent.vault.store import open_vault

root, state, left = Path(sys.argv[1]), Path(sys.argv[2]), [int(sys.argv[3])]
start = Git.start

def counted(self, *args, **settings):
    left[0] -= 1
    if left[0] == 0 and sys.argv[4] == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    running = start(self, *args, **settings)
    if left[0] == 0:
        running.process.proc.communicate(running.stdin)
        os.kill(os.getpid(), signal.SIGKILL)
    return running

vault = open_vault(root, state, SystemClock(), Options(durable=False))
Git.start = counted
squash(vault, datetime(2026, 11, 1, tzinfo=UTC), token="01KILLED")
print(left[0])
"""


def killed_at(folder: Path, step: int, moment: str) -> bool:
    """Kill a squash before or after its git command of this number; False if it needed fewer."""
    days = week(folder)
    files, old = tree(days.root), head(days.root)
    command = [sys.executable, "-c", KILLED, str(days.root), str(folder / "state"), str(step), moment]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode in {0, -9}, ended.stderr
    vault = open_vault(days.root, folder / "state", days.clock, FAST)
    check_usable(vault, files, old)
    if len(commits(vault)) == 11:
        squash(vault, LATER, token="02AGAIN")
    assert len(commits(vault)) == 7
    check_usable(vault, files, old)
    return ended.returncode != 0


def check_usable(vault: Vault, files: str, old: str) -> None:
    root = vault.place.root
    assert tree(root) == files and git(root, "status", "--porcelain") == ""
    git(root, "fsck", "--strict")
    if head(root) != old:
        assert old in git(root, "for-each-ref", f"{RESCUES}*"), "the history as it was is kept"
        assert list(vault.private_folder.rglob("*.bundle"))
    else:
        assert len(commits(vault, run="02RUN")) == 2


@pytest.mark.parametrize(("step", "moment"), [(9, "before"), (14, "after")])
def test_killed_half_way_nothing_is_lost(tmp_path: Path, step: int, moment: str) -> None:
    assert killed_at(tmp_path, step, moment)


@pytest.mark.chaos
@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_anywhere_nothing_is_lost(tmp_path: Path, moment: str) -> None:
    step = 1
    while killed_at(tmp_path / str(step), step, moment):
        step += 1
    assert step > 14
