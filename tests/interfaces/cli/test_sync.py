"""`vault-agent sync`: two machines and a remote, from the command line."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from agent.vault.health.status import conflict_copies
from agent.vault.layout import SYNC_STATE
from agent.vault.store import open_vault
from agent.vault.sync.round import sync_once
from agent.vault.sync.setup import Candidate
from agent.vault.sync.state import sync_state
from tests.fakes import FakeClock
from tests.remotes import git_as, make_remote
from tests.vaults import FAST, git, make_vault, write

Captured = pytest.CaptureFixture[str]
NOTES = {"plan.md": "# Plan\n\nFirst.\n\nSecond.\n", "tea.md": "# Tea\n\nGreen.\n"}


@dataclass(frozen=True, slots=True)
class Computer:
    """A machine with a clone; its program has settings and state of its own."""

    root: Path
    home: Path
    capsys: Captured
    monkeypatch: pytest.MonkeyPatch

    def types(self, *args: str, code: int = 0) -> str:
        """What the program says; standard error after standard output."""
        self.monkeypatch.setenv("VAULT_AGENT_HOME", str(self.home))
        self.monkeypatch.setenv("VAULT_AGENT_GIT__DURABLE", "false")
        found = main(["--vault", str(self.root), *args])
        out, err = self.capsys.readouterr()
        assert found == code, (args, found, out, err)
        return out + err

    def asks(self, *args: str, code: int = 0) -> dict[str, object]:
        found = json.loads(self.types(*args, "--json", code=code).splitlines()[0])
        assert isinstance(found, dict)
        return found

    def write(self, path: str, text: str) -> None:
        write(self.root / path, text)

    def read(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Pair:
    one: Computer
    other: Computer
    remote: Path


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Computer:
    """One machine with a vault and no remote."""
    make_vault(tmp_path / "one", dict(NOTES))
    return Computer(tmp_path / "one/vault", tmp_path / "one/home", capsys, monkeypatch)


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    make_remote(tmp_path / "shared.git")
    return tmp_path / "shared.git"


@pytest.fixture
def pair(tmp_path: Path, alone: Computer, remote: Path) -> Pair:
    """Two machines in step with a remote."""
    alone.types("sync", "setup", str(remote), "--only-me")
    root = tmp_path / "two/vault"
    root.parent.mkdir()
    git_as(tmp_path, "Bert", "clone", "-q", str(remote), str(root))
    for key, value in (("user.name", "Bert"), ("user.email", "bert@example.org")):
        git(root, "config", key, value)
    other = Computer(root, tmp_path / "two/home", alone.capsys, alone.monkeypatch)
    other.types("sync", "setup", "--only-me")
    return Pair(alone, other, remote)


def test_setup_tries_adds_and_sends(alone: Computer, remote: Path) -> None:
    said = alone.types("sync", "setup", str(remote))
    assert "sent" in said or "it has all" in said
    assert "vault-agent trust origin --only-me" in said
    assert git(remote, "rev-parse", "main") == git(alone.root, "rev-parse", "main")
    assert git(remote, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]
    assert git(alone.root, "rev-parse", "--abbrev-ref", "main@{upstream}").strip() == "origin/main"
    again = alone.asks("sync", "setup", str(remote), "--only-me")
    assert (again["new"], again["synced"], again["remote"]) == (False, True, "origin")
    assert "where only you" not in alone.types("status") and "only you write there" in alone.types("trust")


def test_a_clone_by_another_program_is_not_empty(alone: Computer, remote: Path, tmp_path: Path) -> None:
    git(remote, "symbolic-ref", "HEAD", "refs/heads/master")
    said = alone.types("sync", "setup", str(remote), "--only-me")
    assert "new clones of" in said and "would have been empty" in said
    git_as(tmp_path, "Bert", "clone", "-q", str(remote), "phone")
    assert (tmp_path / "phone/tea.md").exists()
    assert "new clones of" not in alone.types("sync", "setup", str(remote), "--only-me")


def test_without_a_remote_it_says_how_to_get_one(alone: Computer) -> None:
    said = alone.types("sync", "setup", code=2)
    assert "git init --bare -b main" in said and "ssh me@server" in said and "private" in said
    assert "vault-agent sync setup" in alone.types("sync", code=2)
    assert "no remote is set up" in alone.types("sync", "status")


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("nowhere", "an address looks like"),
        ("ext::sh -c evil", "an address looks like"),
        ("-uroot:x", "an address looks like"),
        ("{folder}/none.git", "make an empty, private repository"),
        ("{folder}", "make an empty, private repository"),
    ],
)
def test_what_is_no_remote_is_refused(alone: Computer, tmp_path: Path, address: str, hint: str) -> None:
    assert hint in alone.types("sync", "setup", "--", address.format(folder=tmp_path), code=2)
    assert git(alone.root, "remote") == ""
    assert "no remote is set up" in alone.types("sync", "status")


def test_a_remote_with_other_branches_is_asked_about(alone: Computer, remote: Path) -> None:
    git(alone.root, "push", "-q", str(remote), "main:work")
    assert "has no branch main, but work" in alone.types("sync", "setup", str(remote), code=2)
    alone.types("sync", "setup", str(remote), "--branch", "main")
    assert git(remote, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main", "refs/heads/work"]
    assert "git switch work" in alone.types("sync", "setup", str(remote), "--branch", "work", code=2)


def test_a_vault_that_cannot_be_synced_whole_is_refused(alone: Computer, remote: Path, tmp_path: Path) -> None:
    git(alone.root, "config", "core.sparseCheckout", "true")
    assert "git sparse-checkout disable" in alone.types("sync", "setup", str(remote), code=2)
    inner = tmp_path / "big"
    git(tmp_path, "init", "-q", str(inner))
    write(inner / "notes/vault-agent.yaml", "")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "all")
    part = Computer(inner / "notes", alone.home, alone.capsys, alone.monkeypatch)
    assert f"the folder notes of a larger repository, {inner}" in part.types("sync", "setup", str(remote), code=2)


def test_another_vault_there_gets_two_ways_out(alone: Computer, remote: Path, tmp_path: Path) -> None:
    stranger = make_vault(tmp_path / "else", {"far.md": "far\n"}).place.root
    git(stranger, "push", "-q", str(remote), "main")
    said = alone.types("sync", "setup", str(remote), "--only-me", code=1)
    assert "vault-agent sync clone" in said and "vault-agent sync --join" in said
    assert not (alone.root / "far.md").exists()
    alone.types("sync", "--join")
    assert alone.read("far.md") == "far\n" and alone.read("tea.md") == NOTES["tea.md"]


def test_what_moved_is_said(pair: Pair) -> None:
    pair.one.write("plan.md", NOTES["plan.md"] + "\nThird.\n")
    pair.one.write("new.md", "new\n")
    said = pair.one.types("sync")
    assert "origin: sent 2 files" in said and "> new.md" in said
    pair.other.write("tea.md", "# Tea\n\nBlack.\n")
    said = pair.other.types("sync")
    assert "received 2 files, sent 1 file" in said and "< plan.md" in said and "> tea.md" in said
    assert pair.other.types("sync") == "origin: it has all that is here\n"
    round = pair.one.asks("sync")["rounds"]
    assert isinstance(round, list) and round[0]["received"] == ["tea.md"] and round[0]["end"] == "synced"


def test_status_never_says_more_than_the_remote_did(pair: Pair) -> None:
    assert "sync     origin had all of it at" in pair.one.types("status")
    pair.one.write("plan.md", "changed\n")
    assert "origin lacks 1 file that is not committed" in pair.one.types("status")
    pair.one.types("commit")
    said = pair.one.types("status")
    assert "origin lacks 1 commit" in said and "had all" not in said
    found = pair.one.asks("sync", "status")["remotes"]
    assert isinstance(found, list)
    assert (found[0]["synced"], found[0]["ahead"], found[0]["behind"]) == (False, 1, 0)
    assert "lacks 1 commit" in pair.one.types("sync", "status")


def test_a_remote_that_is_away_is_silent_for_a_day(pair: Pair) -> None:
    pair.remote.rename(pair.remote.parent / "away.git")
    assert "not synced" in pair.one.types("sync", code=1)
    state = next(pair.one.home.rglob(SYNC_STATE))
    document = json.loads(state.read_text())
    document["remotes"][0]["passing"] = True
    state.write_text(json.dumps(document))
    short = pair.one.types("status")
    assert "vault-agent sync status" not in short and "origin had all of it at" in short
    document["remotes"][0]["since"] = "2020-01-01T00:00:00+00:00"
    state.write_text(json.dumps(document))
    assert "vault-agent sync status" in pair.one.types("status")
    said = pair.one.types("sync", "status")
    assert "problem" in said and "git remote -v" in said


def test_a_pause_stops_it_until_resume(pair: Pair) -> None:
    pair.one.types("sync", "pause")
    pair.one.write("plan.md", "changed\n")
    assert "vault-agent sync resume" in pair.one.types("sync", code=1)
    assert "paused" in pair.one.types("sync", "status") and "paused" in pair.one.types("status")
    pair.one.types("sync", "resume")
    assert "sent 1 file" in pair.one.types("sync")


def test_a_rewritten_remote_waits_for_keep_or_take(pair: Pair) -> None:
    pair.one.write("plan.md", NOTES["plan.md"] + "\nThird.\n")
    pair.one.types("sync")
    pair.other.types("sync")
    git_as(pair.other.root, "Bert", "push", "-q", "--force", "origin", "HEAD~1:main")
    said = pair.one.types("sync", code=1)
    assert "was rewritten" in said and "--keep or --take" in said and "plan.md" in said
    assert "was rewritten" in pair.one.types("status")
    assert pair.one.types("sync", "--keep", "--take", code=2)
    assert "sent" in pair.one.types("sync", "--keep")
    assert "Third." in git(pair.remote, "show", "main:plan.md")


def test_a_remote_with_another_address_is_not_written(pair: Pair) -> None:
    git(pair.one.root, "remote", "set-url", "origin", "/nowhere.git")
    assert "vault-agent sync setup origin" in pair.one.types("sync", code=2)
    assert "has another address" in pair.one.types("sync", "doctor", code=1)


def test_doctor_looks_at_the_remote(pair: Pair) -> None:
    assert "origin can be reached and written" in pair.one.types("sync", "doctor")
    pair.remote.rename(pair.remote.parent / "away.git")
    assert "cannot be used" in pair.one.types("sync", "doctor", code=1)


@pytest.mark.parametrize(
    ("side", "kept", "gone"),
    [("--ours", "Mine.", "Yours."), ("--theirs", "Yours.", "Mine."), ("--both", "Yours.", "")],
)
def test_a_conflict_is_ended_by_a_word(alone: Computer, side: str, kept: str, gone: str) -> None:
    copy = "plan (conflict 2026-11-21 abcd).md"
    alone.write("plan.md", f"---\nconflicts:\n  - '[[{copy.removesuffix('.md')}]]'\n---\n# Plan\n\nMine.\n")
    alone.write(copy, "---\nconflict_of: '[[plan]]'\n---\n# Plan\n\nYours.\n")
    alone.types("commit")
    assert copy in alone.types("status") and "sync resolve" in alone.types("sync", "status")
    assert "--ours, --theirs or --both" in alone.types("sync", "resolve", "plan.md", code=2)
    alone.types("sync", "resolve", copy if side == "--both" else "plan.md", side)
    after = alone.read("plan.md")
    assert kept in after and "conflict" not in after and (not gone or gone not in after)
    assert not (alone.root / copy).exists() and git(alone.root, "status", "--porcelain") == ""
    if side == "--both":
        assert "Mine." in after and "## The other version" in after
    assert "Vault-Actor: human" in git(alone.root, "log", "-1", "--format=%B")
    alone.types("undo", "HEAD")
    assert (alone.root / copy).exists() and "[[plan (conflict" in alone.read("plan.md")
    assert "no other version" in alone.types("sync", "resolve", "tea.md", "--ours", code=2)


def test_only_one_syncs_at_a_time(pair: Pair) -> None:
    from agent.config.durable import process_lock

    state = next(pair.one.home.rglob(SYNC_STATE))
    with process_lock(state.parent / "sync.lock", FakeClock(), 0.0, "another"):
        assert "another vault-agent is syncing" in pair.one.types("sync", code=75)


def test_a_conflict_that_sync_made_is_said_and_ended(pair: Pair) -> None:
    pair.one.write("plan.md", "# Plan\n\nFirst, by one.\n\nSecond.\n")
    pair.one.types("sync")
    pair.other.write("plan.md", "# Plan\n\nFirst, by other.\n\nSecond.\n")
    said = pair.other.types("sync")
    copies = conflict_copies(open_vault(pair.other.root, pair.other.home / "x", FakeClock(), FAST))
    assert len(copies) == 1 and copies[0] in said and "sync resolve plan.md\n" in said
    pair.other.types("sync", "resolve", "plan.md", "--both")
    assert "conflict" not in pair.other.read("plan.md")


def test_a_remote_that_is_taken_out_keeps_what_it_has(pair: Pair) -> None:
    one = pair.one
    pair.other.write("AGENT.md", "# Agent\n\nBe brief with me.\n")
    pair.other.types("sync")
    one.types("sync")
    assert one.asks("trust")["steering"] == []
    one.write("later.md", "# Later\n")
    one.types("commit")
    sent = git(pair.remote, "rev-parse", "main")
    said = one.types("sync", "remove", "origin")
    assert "keeps all that it has" in said and "1 commit here was never sent" in said
    assert git(pair.remote, "rev-parse", "main") == sent and "later.md" not in git(pair.remote, "ls-tree", "main")
    assert git(one.root, "remote") == "" and git(one.root, "for-each-ref", "refs/remotes") == ""
    assert "no remote is set up" in one.types("sync", "status")
    assert one.asks("trust")["steering"] == [], "what came while only they wrote there is theirs"
    assert "kept in step" in one.types("sync", "remove", "origin", code=2)
    again = one.types("sync", "setup", str(pair.remote))
    assert "vault-agent trust origin --only-me" in again and "later.md" in git(pair.remote, "ls-tree", "main")


def test_a_remote_that_git_has_no_more_can_be_taken_out(pair: Pair) -> None:
    git(pair.one.root, "remote", "remove", "origin")
    pair.one.types("sync", code=2)
    pair.one.types("sync", "remove", "origin")
    assert "no remote is set up" in pair.one.types("sync", "status")


def test_a_remote_that_waits_is_taken_out_with_its_question(pair: Pair) -> None:
    pair.one.write("plan.md", "# Plan\n\nFirst.\n\nSecond.\n\nThird.\n")
    pair.one.types("sync")
    git_as(pair.one.root, "Anna", "push", "-q", "--force", "origin", "HEAD~1:main")
    pair.one.types("sync", code=1)
    path = str(question(pair.one)["path"])
    pair.one.types("sync", "remove", "origin")
    assert pair.one.asks("questions")["questions"] == [] and "status: over" in pair.one.read(path)


def two_versions(pair: Pair) -> None:
    """A conflict that a sync by hand has left on the other machine, and the question about it on both."""
    pair.one.write("plan.md", "# Plan\n\nFirst, by one.\n\nSecond.\n")
    pair.one.types("sync")
    pair.other.write("plan.md", "# Plan\n\nFirst, by other.\n\nSecond.\n")
    pair.other.types("sync")


def question(computer: Computer) -> dict[str, object]:
    """The one question that `questions` lists."""
    listed = computer.asks("questions")["questions"]
    assert isinstance(listed, list) and len(listed) == 1
    found = listed[0]
    assert isinstance(found, dict)
    return found


def test_a_conflict_is_asked_about_and_answered_by_a_number(pair: Pair) -> None:
    two_versions(pair)
    found = question(pair.other)
    assert "  3. " in pair.other.types("questions") and "by one" not in str(found["question"])
    assert pair.other.asks("status")["agent"]["questions"] == 1  # type: ignore[index]
    path, number = str(found["path"]), str(found["id"])[-6:].lower()
    assert path in git(pair.remote, "ls-tree", "-r", "--name-only", "main"), "the question is sent"
    assert "none of the answers" in pair.other.types("questions", "answer", number, "perhaps", code=2)
    done = pair.other.asks("questions", "answer", number, "3")
    assert done["goes_on"] == "here"
    text = pair.other.read("plan.md")
    assert "by one" in text and "by other" in text and "status: answered" in pair.other.read(path)
    assert "nothing is asked" in pair.other.types("questions")
    assert not list(pair.other.root.glob("plan (conflict*"))


def test_a_conflict_is_settled_on_the_machine_that_did_not_ask(pair: Pair) -> None:
    two_versions(pair)
    path = str(question(pair.other)["path"])
    pair.one.types("sync")
    done = pair.one.asks("questions", "answer", str(question(pair.one)["path"]), "2")
    assert done["goes_on"] == "here"
    text = pair.one.read("plan.md")
    assert ("by one" in text) != ("by other" in text) and not list(pair.one.root.glob("plan (conflict*"))
    pair.one.types("sync")
    pair.other.types("sync")
    assert pair.other.read("plan.md") == text and pair.other.asks("questions")["questions"] == []
    assert pair.other.read(path).count("→") == 1, "it is closed once"
    assert pair.other.read(path) == pair.one.read(path)


def test_a_question_that_says_something_else_settles_no_conflict(pair: Pair) -> None:
    two_versions(pair)
    path = str(question(pair.other)["path"])
    pair.other.write(path, pair.other.read(path).replace("by one", "by nobody"))
    pair.other.types("commit")
    pair.other.types("sync")
    pair.one.types("sync")
    done = pair.one.asks("questions", "answer", path, "2")
    assert done["goes_on"] != "here"
    assert list(pair.one.root.glob("plan (conflict*")), "both versions are still there"


def test_a_conflict_that_is_ended_by_hand_is_no_question_any_more(pair: Pair) -> None:
    two_versions(pair)
    path = str(question(pair.other)["path"])
    pair.other.types("sync", "resolve", "plan.md", "--ours")
    assert "status: over" in pair.other.read(path), "it is settled at once, not by the next sync"
    assert pair.other.asks("questions")["questions"] == []


def test_a_conflict_is_asked_about_by_the_next_round_if_the_first_was_cut_short(pair: Pair) -> None:
    two_versions(pair)
    vault = open_vault(pair.other.root, pair.other.home / "state", FakeClock(), FAST)
    path = str(question(pair.other)["path"])
    pair.other.types("questions", "answer", path, "1")
    pair.one.types("sync")
    pair.one.write("tea.md", "# Tea\n\nGreen, by one.\n")
    pair.one.types("sync")
    pair.other.write("tea.md", "# Tea\n\nGreen, by other.\n")
    remote = sync_state(vault).remotes["origin"]
    assert sync_once(vault, remote).conflicts
    assert pair.other.asks("questions")["questions"] == []
    pair.other.types("sync")
    assert "tea" in str(question(pair.other)["path"])


def test_an_answer_about_a_remote_is_carried_out_by_the_next_sync(pair: Pair) -> None:
    pair.one.write("plan.md", "# Plan\n\nFirst.\n\nSecond.\n\nThird.\n")
    pair.one.types("sync")
    git_as(pair.one.root, "Anna", "push", "-q", "--force", "origin", "HEAD~1:main")
    pair.one.types("sync", code=1)
    found = question(pair.one)
    assert "rewritten" in str(found["question"])
    assert "vault-agent sync" in pair.one.types("questions", "answer", str(found["path"]), "1")
    assert "Third" not in git(pair.remote, "show", "main:plan.md")
    pair.one.types("sync")
    assert "Third" in git(pair.remote, "show", "main:plan.md")
    assert "status: answered" in pair.one.read(str(found["path"]))


def test_a_server_that_takes_only_branches_is_used_and_said(alone: Computer, remote: Path) -> None:
    hook = remote / "hooks/update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) exit 0;; *) echo no >&2; exit 1;; esac\n')
    hook.chmod(0o755)
    assert "takes only branches" in alone.types("sync", "setup", str(remote), "--only-me")
    assert git(remote, "rev-parse", "main") == git(alone.root, "rev-parse", "main")
    assert "takes only branches" in alone.types("sync", "doctor")


def test_a_public_host_is_spoken_about(alone: Computer) -> None:
    candidate = Candidate("origin", "git@github.com:me/notes.git", "main", True)
    assert candidate.forge == "https://github.com/new"
    assert replace(candidate, address="https://me@GitLab.com/me/notes.git").forge.startswith("https://gitlab.com")
    assert not replace(candidate, address="ssh://me@server/notes.git").forge
    assert not replace(candidate, address="/media/github.com:x/notes.git").forge


def test_a_machine_signs_and_the_other_approves_its_key_once(pair: Pair) -> None:
    one, other = pair.one, pair.other
    said = one.types("sync", "sign")
    shown = one.asks("sync", "sign")
    key, public = str(shown["fingerprint"]), str(shown["public_key"])
    assert public.startswith("ssh-ed25519 ") and public in said and f"vault-agent trust --key {key}" in said
    one.write("tea.md", "# Tea\n\nThe laptop signs this line about green tea.\n")
    one.types("sync")
    other.types("sync")
    other.types("trust", "origin", "--others")
    listed = other.asks("trust")
    assert listed["keys"] == [{"key": key, "machines": [shown["machine"]], "approved": False}]
    assert f"not approved. If that machine shows it, too: vault-agent trust --key {key}" in other.types("trust")
    assert "made here are signed" in one.types("sync", "doctor") and "signed" not in other.types("sync", "doctor")
    assert "agent" not in other.types("log", "-n", "1", "tea.md") or "claims to be" in other.types("log", "-n", "3")
    said = other.types("trust", "--key", public)
    assert f"{key} count as yours" in said and "that came before" in said
    assert "commits signed by it are yours" in other.types("trust")
    assert other.asks("trust", "--key", key)["earlier"] == 0
    assert "those that came before stay yours" in other.types("trust", "--forget-key", key)
    assert "no key" in other.types("trust", "--forget-key", key, code=2)
    one.types("sync", "sign", "--off")
    one.types("sync")
    other.types("sync")
    assert other.asks("trust")["keys"] == []


def test_a_key_that_cannot_sign_is_found_by_doctor(alone: Computer) -> None:
    alone.types("sync", "sign")
    (path,) = (each for each in alone.home.rglob("signing/key"))
    path.write_text("damaged\n")
    assert "are to be signed, and are not" in alone.types("sync", "doctor", code=1)
    alone.write("tea.md", "# Tea\n\nBlack.\n")
    alone.types("commit")
    assert "Black." in git(alone.root, "show", "HEAD:tea.md")
