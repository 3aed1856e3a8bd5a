"""A day with the agent, through real processes: it writes, asks, is told yes and no, is killed, goes on, is undone."""

import signal
import subprocess
from pathlib import Path
from random import Random

import pytest

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.loop.session import load_session
from tests.stories.agents import NOTES, call, command, document, environment, furnish, script, settings, tell
from tests.trust import checks
from tests.vaults import committed, git, head

CLOCK = SystemClock()
LINES = 6


def replies(under: str, seconds: float = 0) -> tuple[object, ...]:
    """What the model says; after the last line it thinks for so long."""
    return (
        call("vault_append", path="log.md", text="- begun"),
        call("vault_edit", path=f"{under}AGENT.md", old="Be brief.", new="Be brief and kind."),
        call("vault_write", path=f"{under}skills/spy/SKILL.md", content="# Spy\n"),
        *(call("vault_append", path="log.md", text=f"- line {number}") for number in range(LINES)),
        {"seconds": seconds, **call("vault_edit", path="plan.md", old="- buy tea\n", new="- buy tea\n- drink it\n")},
        "The day is done.",
    )


@pytest.mark.parametrize(("seed", "under"), [(0, ""), (1, "Agent/"), (2, "")])
def test_ask_approve_refuse_kill_resume_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, under: str
) -> None:
    root = furnish(tmp_path, monkeypatch.setenv, under=under)
    said = tmp_path / "script.json"
    own = settings(tmp_path, script(said, *replies(under)))
    before = head(root)

    asked = document(root, own, "ask", "keep my day")
    assert asked["outcome"] == "needs_approval" and (root / "log.md").read_text() == "- begun\n"
    shown = document(root, own, "approvals", "show", asked["waits_for"])
    assert "+Be brief and kind." in shown["text"]

    said_yes = document(root, own, "approvals", "yes", asked["waits_for"], "--go-on")["run_ended"]
    assert said_yes["outcome"] == "needs_approval" and said_yes["run"] == asked["run"]
    assert "Be brief and kind." in (root / under / "AGENT.md").read_text() and not (root / under / "skills").exists()

    document(root, own, "approvals", "no", said_yes["waits_for"], "--reason", "no spying")
    script(said, *replies(under, 600))  # however late the kill comes, it comes in time
    kill(root, own, asked["session"], Random(seed))
    script(said, *replies(under))
    ended = document(root, own, "ask", "--resume", asked["session"])
    assert ended["outcome"] == "finished" and ended["answer"] == "The day is done." and ended["run"] == asked["run"]
    assert (root / "log.md").read_text() == "- begun\n" + "".join(f"- line {number}\n" for number in range(LINES))
    assert not (root / under / "skills").exists(), "a refused call was carried out"
    assert 3 <= len(set(ended["commits"])) <= 4, "one for each time that it waited, was killed, or ended"

    checks.check_sound(root)
    assert git(root, "status", "--porcelain") == ""
    by_run = [commit for commit in checks.commits(root) if commit.run]
    assert {(commit.author, commit.actor, commit.run) for commit in by_run} == {("vault-agent", "agent", asked["run"])}
    assert {commit.actor for commit in checks.commits(root) if commit.author == "Anna"} <= {"human", ""}

    tell(root, own, "undo", "--run", asked["run"])
    paths = git(root, "ls-files", "-z").split("\0")[:-1]
    records = tuple(f"{under}{folder}/" for folder in ("sessions", "approvals", "daily"))
    kept = {path for path in paths if not path.startswith((*records, f"{under}approvals.base"))}
    assert {path.removeprefix(under) for path in kept} == {*NOTES, "vault-agent.yaml"}
    assert all((root / path).read_bytes() == committed(root, path, before) for path in kept), "not as it was"
    readable(root, asked["session"])


def kill(root: Path, own: dict[str, str], session: str, rng: Random) -> None:
    """Take the run up and kill it somewhere in the middle."""
    process = subprocess.Popen(
        command(root, "ask", "--resume", session),
        env=environment(own),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        last_line = f"- line {rng.randint(1, LINES) - 1}\n"
        deadline = CLOCK.monotonic() + 120
        while last_line not in (root / "log.md").read_text():
            assert CLOCK.monotonic() < deadline and process.poll() is None, "the run does not get on"
            CLOCK.sleep(0.001)
        CLOCK.sleep(rng.uniform(0, 0.03))
    finally:
        process.kill()
        assert process.wait() == -signal.SIGKILL, "it was over before it could be killed"


def readable(root: Path, path: str) -> None:
    """The session's note tells the day to a person, and to the program."""
    text = (root / path).read_text("utf-8")
    assert text.startswith("---\n") and "# Keep my day\n" in text
    told = ["the person said no: no spying", '"name": "vault_append"', "Run interrupted", "The day is done."]
    assert all(text.count(each) >= 1 for each in told), [each for each in told if each not in text]
    session = load_session(open_workspace(root).vault, path)
    assert session.open_run is None and not session.open_calls
