"""A person starts the daemon, keeps writing, renames, checks out, kills it, breaks its cache, and finds all."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.app.open import open_workspace
from agent.workspace.search_index import open_index
from tests.daemon.house import BRISK, WORDS, check_equals_a_rebuild, furnish, prose
from tests.daemon.process import end, environment, is_watching, kill, run, spawn, wait_for, watching
from tests.vaults import git, git_beside, head, write

NOTES = {
    "tea/green.md": "# Green tea\n\nSencha is steamed, gyokuro is shaded.\n",
    "tea/black.md": "# Black tea\n\nAssam grows low, darjeeling high.\n",
    "茶/绿茶.md": "# 绿茶\n\n龙井茶产于杭州。\n",
    "diary.md": "# Diary\n\nA quiet day.\n",
}
QUESTIONS = ["sencha", "tea that grows high", "龙井茶", "quiet day", "platypus", "echidna"]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """The settings of this machine; in force here as well."""
    furnish(tmp_path / "home", monkeypatch.setenv)
    monkeypatch.setenv("VAULT_AGENT_LOG__LEVEL", "error")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Anna")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "anna@example.org")
    return environment(tmp_path / "home", {**BRISK, "VAULT_AGENT_LOG__LEVEL": "error"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of notes that is no vault yet."""
    for path, text in NOTES.items():
        write(tmp_path / "notes" / path, text)
    return tmp_path / "notes"


class Searches:
    """Asks again and again, as one search after the other."""

    def __init__(self, root: Path) -> None:
        self.index = open_index(open_workspace(root))

    def answer(self, text: str) -> Any:
        return self.index.search(text, 10)

    def found(self, word: str) -> list[str]:
        return [hit.path for hit in self.answer(word).hits if word in hit.passage]


def commits(root: Path) -> int:
    return int(git(root, "rev-list", "--count", "HEAD"))


def test_a_day_with_the_daemon(root: Path, machine: Mapping[str, str]) -> None:
    with watching(root, machine, "--init", "--yes") as daemon:
        assert run(root, machine, "daemon", code=75)["error"]["type"] == "LockHeld"

        asking = Searches(root)
        document = run(root, machine, "search", "龙井茶")
        assert document["hits"][0]["path"] == "茶/绿茶.md" and document["degraded"] is None

        write(root / "new.md", "# New\n\nThe platypus lays eggs.\n")
        wait_for(daemon, lambda: asking.found("platypus") == ["new.md"], "the saved note is found", 60)
        wait_for(daemon, lambda: not git(root, "status", "--porcelain"), "it is committed")

        (root / "new.md").rename(root / "tea/egg.md")
        wait_for(daemon, lambda: asking.found("platypus") == ["tea/egg.md"], "the renamed note is found", 60)
        (root / "tea/black.md").unlink()
        wait_for(daemon, lambda: asking.found("Assam") == [], "the deleted note is gone", 60)
        wait_for(daemon, lambda: not git(root, "status", "--porcelain"), "that is committed")

        before = commits(root)
        run(root, machine, "remember", "the echidna has spines")
        wait_for(
            daemon,
            lambda: len(set(asking.found("echidna")) - {"Agent/MEMORY.md"}) == 1,
            "what was remembered is found",
            60,
        )

        tip = head(root)
        git_beside(root, "checkout", "-q", "HEAD~2")
        wait_for(daemon, lambda: asking.found("Assam") == ["tea/black.md"], "an earlier state is followed", 60)
        git_beside(root, "checkout", "-q", "-")
        wait_for(daemon, lambda: asking.found("Assam") == [], "and the way back", 60)
        assert (commits(root), head(root)) == (before + 1, tip)

        shutil.rmtree(asking.index.files.folder)
        wait_for(daemon, lambda: asking.found("echidna") and not asking.answer("tea").degraded, "a lost cache is back")

        code, seconds = end(daemon)
        assert code == 0 and seconds <= 5
        check_equals_a_rebuild(asking.index, root.parent / "rebuilt", QUESTIONS)
        asking.index.close()


def test_killed_in_the_middle_of_work_it_goes_on_where_it_was(root: Path, machine: Mapping[str, str]) -> None:
    with watching(root, machine, "--init", "--yes"):
        for number in range(150):
            write(root / f"many/{number}.md", f"# {number}\n\nplatypus{number} {prose(str(number))}")
    with watching(root, machine) as daemon:
        wait_for(daemon, lambda: not git(root, "status", "--porcelain"), "all is committed")
        assert run(root, machine, "status")["unfinished"] == 0
        assert end(daemon)[0] == 0
    asking = Searches(root)
    assert asking.found("platypus149") == ["many/149.md"]
    check_equals_a_rebuild(asking.index, root.parent / "rebuilt", [*QUESTIONS, "platypus7", *WORDS[:20]])
    asking.index.close()


def test_asked_to_stop_during_the_first_index_it_stops_at_once(root: Path, machine: Mapping[str, str]) -> None:
    for number in range(1500):
        write(root / f"many/{number}.md", f"# {number}\n\n{'platypus and more words ' * 40}\n")
    run(root.parent, machine, "init", "--yes", str(root))
    daemon = spawn(root, machine)
    try:
        files = open_index(open_workspace(root)).files
        wait_for(daemon, lambda: any(files.folder.glob("keyword-*")), "the first index has begun")
        code, seconds = end(daemon)
        assert code == 0 and seconds <= 5
        assert not is_watching(root, daemon)
    finally:
        kill(daemon)
    assert run(root, machine, "search", "sencha")["hits"][0]["path"] == "tea/green.md"
