"""Vaults and states as earlier versions left them: nothing is lost, nothing asked twice, and the work goes on."""

import os
import subprocess
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.clock import SystemClock
from tests.daemon.house import HastyClock, living
from tests.stories.agents import document, script, tell
from tests.upgrades.make import FACTS, FOLDER, NOTES, PROPOSED, QUESTION, SOLD

ARCHIVES = sorted(FOLDER.glob("*.tar.xz"))


@pytest.fixture(params=ARCHIVES, ids=[path.name.partition(".")[0] for path in ARCHIVES])
def vault(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The vault, a minute after its last commit."""
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    root = tmp_path / "vault"
    monkeypatch.setenv("TZ", "UTC")
    for key, value in own(tmp_path).items():
        monkeypatch.setenv(key, value)
    return root


def own(folder: Path) -> dict[str, str]:
    """The settings of the machine whose state came with the vault, with a model that says one thing."""
    said = script(folder / "said.json", *["So be it."] * 5)  # a run that goes on reads on
    return {
        "VAULT_AGENT_HOME": str(folder / "home"),
        "VAULT_AGENT_CLOCK__START": moment(folder / "vault").isoformat(),
        "VAULT_AGENT_GIT__DURABLE": "false",
        "VAULT_AGENT_LLM__WIRE": "scripted",
        "VAULT_AGENT_LLM__SCRIPT": str(said),
    }


def moment(root: Path) -> datetime:
    """A minute after the last commit."""
    return datetime.fromtimestamp(int(git(root, "log", "-1", "--format=%ct")) + 60, UTC)


class ThatDay(HastyClock):
    """A clock that runs from a moment of the past."""

    def __init__(self, start: datetime) -> None:
        self._start, self._began = start, SystemClock.now(self)

    def now(self) -> datetime:
        return self._start + (SystemClock.now(self) - self._began)


def git(root: Path, *words: str) -> str:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(["git", *words], cwd=root, env=kept, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def lines_of(root: Path, commit: str) -> set[str]:
    """The lines of all notes in a commit."""
    names = git(root, "ls-tree", "-r", "--name-only", "-z", commit).split("\0")
    texts = (git(root, "show", f"{commit}:{name}") for name in names if name.endswith(".md"))
    return {line.strip() for text in texts for line in text.splitlines() if line.strip()}


def test_nothing_of_it_is_lost_while_the_daemon_lives_there(vault: Path) -> None:
    before, lines = git(vault, "rev-parse", "HEAD"), lines_of(vault, "HEAD")
    with living(vault, clock=ThatDay(moment(vault))) as house:
        house.catches_up()
        house.for_a_while(6)
    assert {path: (vault / path).read_text("utf-8") for path in NOTES} == NOTES
    assert (vault / "Sold.md").read_text("utf-8") == SOLD
    assert git(vault, "merge-base", before, "HEAD") == before
    assert lines - lines_of(vault, "HEAD") == set()
    assert git(vault, "status", "--porcelain") == ""
    waiting = document(vault, own(vault.parent), "needs")
    assert [each["tool"] for each in waiting["approvals"]] == ["vault_write"]  # asked once
    assert {each["path"].rpartition("/")[2][11:] for each in waiting["questions"]} <= {"profile-sensitive.md"}


def test_it_is_sound_and_what_was_kept_is_found(vault: Path) -> None:
    machine = own(vault.parent)
    checks = document(vault, machine, "doctor")["checks"]
    assert [each for each in checks if each["level"] == "bad"] == []
    for fact, asked in zip(FACTS, ("spare key", "妈妈的生日"), strict=True):
        assert fact in tell(vault, machine, "search", asked)
    assert "My notes" in tell(vault, machine, "log")
    jobs = document(vault, machine, "jobs")["jobs"]
    assert [each["status"] for each in jobs if each["id"] == "brief-me"] == ["active"]


def test_a_yes_to_what_it_asked_counts_once(vault: Path) -> None:
    machine = own(vault.parent)
    (asked,) = document(vault, machine, "needs")["approvals"]
    tell(vault, machine, "needs", "yes", asked["code"])
    with living(vault, clock=ThatDay(moment(vault))) as house:
        house.catches_up()
        house.for_a_while(6)
    assert (vault / "AGENT.md").read_text("utf-8") == PROPOSED
    assert git(vault, "log", "--format=%h", "--", "AGENT.md").count("\n") == 1  # laid, and changed once
    assert document(vault, machine, "needs")["approvals"] == []
    session = next(vault.rglob(f"*{QUESTION.removesuffix('?')}*.md")).read_text("utf-8")
    assert "So be it." in session


def test_what_it_did_can_be_taken_back(vault: Path) -> None:
    commit = git(vault, "log", "-1", "--format=%H", "--", "Sold.md")
    tell(vault, own(vault.parent), "undo", commit[:10], "--yes")
    assert not (vault / "Sold.md").exists() and (vault / "Movers.md").exists()
