"""`init` on a folder with work says what it will do, leaves what is the person's, and asks only at a terminal."""

import json
import os
from pathlib import Path

import pytest

from agent.app.setup import Wishes, make_vault
from agent.config.directories import directories
from agent.config.load import load_settings
from agent.interfaces.cli.main import main
from agent.runs.open_requests import asked_in
from agent.vault.drafts import drafts_file, load_drafts
from agent.vault.store import Vault
from agent.workspace.workspace import load_workspace
from tests.interfaces.cli.terminal import terminal
from tests.vaults import git, init, write

Captured = pytest.CaptureFixture[str]
BINARY = b"\x89PNG\0\0"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VAULT_AGENT_GIT__DURABLE", "false")
    monkeypatch.setenv("VAULT_AGENT_GIT__QUIET_SECONDS", "0")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def opened(root: Path) -> Vault:
    return load_workspace(root).vault


def in_one_line(text: str) -> str:
    """What was said, wherever the terminal breaks its lines."""
    return " ".join(text.split())


def with_drafts(root: Path) -> Path:
    """A repository with a new, an edited, a deleted and a staged file."""
    root.mkdir()
    init(root)
    for name in ("a", "b", "c"):
        write(root / f"{name}.md", f"{name}\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "before")
    write(root / "a.md", "a, edited\n")
    (root / "b.md").unlink()
    write(root / "c.md", "staged\n")
    git(root, "add", "c.md")
    write(root / "new.md", "new\n")
    return root


DRAFTS = " M a.md\n D b.md\nM  c.md\n?? new.md\n"


def test_an_empty_folder_needs_no_words(root: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Anna")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "anna@example.org")
    assert main(["init", "--yes", str(root)]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_there_is_named_before_anything_is_done(root: Path, capsys: Captured) -> None:
    write(root / "note.md", "mine\n")
    write(root / "daily/2026-11-20.md", "mine\n")
    write(root / "photo.png", BINARY)
    write(root / "film.md", b"x" * 21_000_000)
    assert main(["init", "--yes", str(root), "--under", "/"]) == 0
    err = in_one_line(capsys.readouterr().err)
    assert "your 2 files (0.1 MB) as the first commit of a new git repository" in err
    assert "film.md: larger than 20 MB, photo.png: no text" in err and "git.binaries" in err
    assert "daily/ with you (1 file): the agent adds a section of its own" in err
    assert "git does not know you" in err and "user.email" in err
    assert git(root, "status", "--porcelain") == "?? film.md\n?? photo.png\n"
    assert git(root, "log", "--format=%ae", "--author=vault-agent", "--invert-grep", "HEAD~1").strip() == ""
    assert sorted(path.name for path in (root / "daily").iterdir()) == ["2026-11-20.md"]


def test_looking_changes_nothing_when_the_person_does_not_want_it(root: Path, capsys: Captured) -> None:
    write(root / "pyproject.toml", "[project]\n")
    write(root / "note.md", "mine\n")
    assert main(["init", str(root)]) == 2
    err = capsys.readouterr().err
    assert "looks like source code (pyproject.toml); nothing was changed" in err and "--yes" in err
    assert sorted(path.name for path in root.iterdir()) == ["note.md", "pyproject.toml"]
    assert main(["daemon", str(root), "--init"]) == 2
    assert main(["init", str(root), "--yes"]) == 0
    assert (root / "Agent/AGENT.md").exists()


def test_more_source_files_than_notes_are_source_code(root: Path, capsys: Captured) -> None:
    for name in ("a.py", "b.py", "README.md"):
        write(root / name, "x\n")
    assert main(["init", str(root)]) == 2
    assert "looks like source code (2 source files)" in capsys.readouterr().err
    write(root / "plan.md", "plan\n")
    assert main(["init", "--yes", str(root)]) == 0


def test_drafts_are_not_committed_before_they_change(root: Path, capsys: Captured) -> None:
    with_drafts(root)
    assert main(["init", "--yes", str(root)]) == 0
    out, err = capsys.readouterr()
    err = in_one_line(err)
    assert "your 3 changes (a.md, b.md, new.md)" in err and "have staged (1 file)" in err
    assert "4 files of yours are not committed" in out
    assert git(root, "status", "--porcelain") == DRAFTS
    assert opened(root).commit_human(quiet=True).human is None
    assert git(root, "status", "--porcelain") == DRAFTS
    write(root / "new.md", "new, and more\n")
    assert opened(root).commit_human(quiet=True).paths == ("new.md",)
    assert set(load_drafts(drafts_file(opened(root).private_folder)).files) == {"a.md", "b.md"}
    assert main(["--vault", str(root), "commit"]) == 0
    assert git(root, "status", "--porcelain") == "M  c.md\n"


def test_status_tells_what_was_left_at_init_from_what_was_edited_since(root: Path, capsys: Captured) -> None:
    with_drafts(root)
    write(root / "photo.png", BINARY)
    assert main(["init", "--yes", str(root)]) == 0
    write(root / "later.md", "later\n")
    capsys.readouterr()
    assert main(["--vault", str(root), "status"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "1 " in lines["edits"]
    assert "3 of yours stay uncommitted" in lines["drafts"] and "a.md, b.md, new.md" in lines["drafts"]
    assert "photo.png (no text, and no note embeds it)" in lines["left"]
    assert "later.md" not in lines["left"] + lines["drafts"]
    assert main(["--vault", str(root), "status", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["left_out"] == {
        **dict.fromkeys(["a.md", "b.md", "new.md"], "a draft of yours"),
        "photo.png": "no text, and no note embeds it",
    }
    assert {each["path"] for each in found["dirty"]} > found["left_out"].keys()


def test_drafts_are_committed_at_once_or_asked_about_later(root: Path, tmp_path: Path, capsys: Captured) -> None:
    with_drafts(root)
    assert main(["init", "--yes", str(root), "--drafts", "commit"]) == 0
    assert "commits your uncommitted 3 changes (a.md, b.md, new.md)" in in_one_line(capsys.readouterr().err)
    assert git(root, "status", "--porcelain") == "M  c.md\n"
    other = with_drafts(tmp_path / "other")
    assert main(["init", "--yes", str(other), "--drafts", "later"]) == 0
    file = drafts_file(opened(other).private_folder)
    assert load_drafts(file).ask and set(load_drafts(file).files) == {"a.md", "b.md", "new.md"}
    assert main(["init", "--yes", str(other), "--drafts", "commit", "--watch-inbox"]) == 0
    assert "inbox.every_note" in capsys.readouterr().err
    assert not file.exists() and git(other, "status", "--porcelain") == "M  c.md\n"


def test_a_damaged_list_of_drafts_is_none(tmp_path: Path) -> None:
    for text in ("", "[]", '{"files": 3}', '{"files": {}}'):
        write(tmp_path / "drafts.json", text)
        assert load_drafts(tmp_path / "drafts.json").files == {}


def test_an_inbox_of_the_person_stays_theirs_until_they_say_otherwise(root: Path, tmp_path: Path) -> None:
    write(root / "inbox/call.md", "Call the bank.\n")
    write(root / "inbox/ask.md", "---\nagent: ask\n---\nWhich bank?\n")
    assert main(["init", "--yes", "--under", "/", str(root)]) == 0
    assert load_settings(root).settings.inbox.every_note is False
    workspace = load_workspace(root)
    assert [len(asked_in(workspace, f"inbox/{name}.md")) for name in ("call", "ask")] == [0, 1]
    assert len(asked_in(workspace, "inbox/call.md", named=True)) == 1
    other = tmp_path / "other"
    write(other / "inbox/call.md", "Call the bank.\n")
    assert main(["init", "--yes", "--under", "/", str(other), "--watch-inbox"]) == 0
    write(other / "inbox/rates.md", "Which bank has the best rates?\n")
    assert [len(asked_in(load_workspace(other), f"inbox/{name}.md")) for name in ("call", "rates")] == [0, 1]


@pytest.mark.parametrize("drafts", ["commit", "leave"])
def test_a_note_in_the_inbox_that_was_not_committed_before_the_vault_asks_nothing(root: Path, drafts: str) -> None:
    with_drafts(root)
    old = "Call the bank.\nBuy screws.\n"
    for name in ("todo", "staged", "asks", "again"):
        write(root / f"inbox/{name}.md", old)
    git(root, "add", "inbox/staged.md")
    assert main(["init", "--yes", "--under", "/", str(root), "--drafts", drafts, "--watch-inbox"]) == 0
    write(root / "inbox/todo.md", old + "Paint the door.\n")
    write(root / "inbox/asks.md", f"---\nagent: ask\n---\n{old}")
    write(root / "inbox/again.md", "Which screws do I need?\n")
    write(root / "inbox/new.md", "Which bank?\n")
    names = ("todo", "staged", "asks", "again", "new")
    for _ in range(2):
        workspace = load_workspace(root)
        assert [len(asked_in(workspace, f"inbox/{name}.md")) for name in names] == [0, 0, 1, 1, 1]
        assert main(["--vault", str(root), "commit"]) == 0


def test_a_new_picture_stays_out_until_the_person_adds_it(root: Path, capsys: Captured) -> None:
    assert main(["init", "--yes", str(root)]) == 0
    write(root / "photo.png", BINARY)
    write(root / "old note.md", "Grüße".encode("utf-16"))
    assert opened(root).commit_human().paths == ("old note.md",)
    capsys.readouterr()
    assert main(["--vault", str(root), "commit"]) == 0
    assert "photo.png: no text, and no note embeds it; `git add` takes it" in capsys.readouterr().out
    git(root, "add", "photo.png")
    git(root, "commit", "-qm", "a picture")
    write(root / "photo.png", BINARY + b"more")
    assert opened(root).commit_human().paths == ("photo.png",)


def test_a_picture_is_committed_where_the_setting_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_GIT__BINARIES", "commit")
    monkeypatch.setenv("VAULT_AGENT_GIT__LARGEST_MEGABYTES", "0")
    write(root / "photo.png", BINARY)
    assert main(["init", "--yes", str(root)]) == 0
    assert git(root, "status", "--porcelain") == ""


def test_a_person_whom_git_does_not_know_has_no_made_up_address(root: Path) -> None:
    write(root / "a.md", "a\n")
    assert main(["init", "--yes", str(root)]) == 0
    assert git(root, "log", "-1", "--format=%ae", "HEAD~1").strip() == ""
    assert git(root, "fsck", "--strict") == ""


def test_the_question_is_about_the_note_that_the_others_link_to(root: Path) -> None:
    write(root / "Garden plan.md", "# Garden plan\n")
    write(root / "Roof.md", "[[Garden plan]] [[2026-11-20]]\n")
    write(root / "Diary, private.md", "[[notes/Garden plan|it]] and [[2026-11-20]] and [[Gone]] and [[$(rm)]]\n")
    write(root / "2026-11-20.md", "[[Roof]]\n")
    write(root / "$(rm).md", "[[2026-11-20]]\n")
    os.mkfifo(root / "pipe.md")
    (root / "link.md").symlink_to("Roof.md")
    assert make_vault(root, Wishes()).question == "What do my notes say about Garden plan?"
    assert 'ask "What do my notes say about Garden plan?"' in (root / "Agent/Welcome.md").read_text()


def test_the_screen_is_chinese_where_the_person_is(root: Path, tmp_path: Path) -> None:
    write(root / "Inbox/call.md", "Call the bank.\n")
    own = {"VAULT_AGENT_HOME": str(tmp_path / "home"), "LANG": "zh_CN.UTF-8"}
    with terminal(tmp_path, own, "init", str(root), "--under", "/") as person:
        person.sees("文件夹 (f)、你的修改 (e)、语言 (l)")
        person.sees("收件夹 (i)")
        person.sees("钩子 (h)")
        person.type("q\n")
        assert person.ends() == 2


def test_one_screen_shows_all_and_a_letter_changes_a_line_of_it(root: Path, tmp_path: Path) -> None:
    with_drafts(root)
    write(root / "Inbox/call.md", "Call the bank.\n")
    own = {"VAULT_AGENT_HOME": str(tmp_path / "home"), "GIT_CONFIG_GLOBAL": "/dev/null"}
    with terminal(tmp_path, own, "init", str(root)) as person:
        for line in ("4 files in Agent/", "your standing instructions", "vault-agent.yaml", "your Inbox/ (1 file)"):
            person.sees(line)
        person.sees("git does not know you")
        person.sees("the daemon commits your own edits")
        person.sees("Enter makes it a vault")
        person.type("?\n")
        person.sees("there is no choice ? here")
        person.sees("Enter makes it a vault")
        person.type("f\n")
        person.sees("the top; Enter: /")
        person.type("\n")
        person.sees("4 files at the top, in one commit")
        person.sees("asks the agent only with `agent: ask`")
        for letter, line in (
            ("i", "every new note in it"),
            ("e", "nothing of your own edits"),
            ("l", "中文 in the notes"),
        ):
            person.sees("Enter makes it a vault")
            person.type(f"{letter}\n")
            person.sees(line)
        person.sees("Enter makes it a vault")
        person.type("d\n")
        person.sees("your uncommitted 4 changes")
        person.sees("Enter makes it a vault")
        person.type("s\n")
        person.sees("Your name for your own commits")
        person.type("Anna Example\n")
        person.sees("Your e-mail address for them")
        person.type("y\n")
        person.sees("y has no @")
        person.type("anna@example.org\n")
        person.sees("Anna Example <anna@example.org>")
        person.sees("Enter makes it a vault")
        person.type("\n")
        assert person.ends() == 0
    assert git(root, "config", "--local", "user.email").strip() == "anna@example.org"
    settings = load_settings(root).settings
    assert (settings.inbox.every_note, settings.git.human_commits) == (True, "off")
    assert (root / "欢迎.md").is_file() and not (root / "inbox").exists()
    assert git(root, "status", "--porcelain") == "M  c.md\n", "the drafts are committed, what is staged is not"
    assert not (root / ".git/hooks/pre-commit").exists()


def tidy(root: Path) -> Path:
    """A repository of notes in which all is committed."""
    root.mkdir()
    init(root)
    write(root / "note.md", "mine\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "before")
    return root


@pytest.mark.parametrize("command", [["init"], ["daemon", "--init"]])
def test_a_tidy_repository_is_asked_as_well(root: Path, tmp_path: Path, command: list[str]) -> None:
    tidy(root)
    own = {"VAULT_AGENT_HOME": str(tmp_path / "home")}
    with terminal(tmp_path, own, *command, str(root)) as person:
        person.sees("4 files in Agent/")
        person.sees("Enter makes it a vault")
        person.type("s\n")
        person.sees("Your name for your own commits")
        person.type("\x04")
        person.sees("Enter makes it a vault")
        person.type("n\n")
        person.sees("nothing was changed")
        assert person.ends() == 2
    assert sorted(path.name for path in root.iterdir()) == [".git", "note.md"]


@pytest.mark.parametrize("command", [["init"], ["daemon", "--init"]])
def test_where_nobody_can_be_asked_nothing_is_changed_without_a_yes(
    root: Path, capsys: Captured, command: list[str]
) -> None:
    assert main([*command, str(root)]) == 2
    err = in_one_line(capsys.readouterr().err)
    assert "4 files at the top and an empty inbox/" in err, "it is shown all the same"
    assert "nobody can be asked here" in err and "--yes" in err
    assert not root.exists()


def test_taking_it_back_leaves_no_trace(root: Path, capsys: Captured) -> None:
    tidy(root)
    write(root / ".git/info/attributes", "*.png binary\n")
    write(root / ".git/info/exclude", "mine/\n.DS_Store\n")

    def state() -> dict[str, bytes]:
        parts = ("config", "info", "hooks")
        files = [path for part in parts for path in (root / ".git" / part, *(root / ".git" / part).rglob("*"))]
        mine = [path for path in root.rglob("*") if ".git" not in path.parts]
        return {str(path): path.read_bytes() if path.is_file() else b"" for path in (*files, *mine) if path.exists()}

    before, revision = state(), git(root, "rev-parse", "HEAD")
    assert main(["init", str(root), "--yes", "--hooks", "--json"]) == 0
    assert (root / ".git/vault-agent").exists()
    made = json.loads(capsys.readouterr().out)
    assert made["merge_driver"] and len(made["hooks"]) == 3 and state() != before
    assert main(["--vault", str(root), "search", "plan"]) == 0
    assert list(directories().cache.rglob("index"))
    assert main(["--vault", str(root), "undo", "--last"]) == 0
    assert not list(directories().cache.rglob("index"))
    assert state() == before and git(root, "diff", "--stat", revision.strip(), "HEAD") == ""
    assert not (root / ".git/vault-agent").exists()


def test_a_vault_that_lost_its_repository_says_what_it_commits(root: Path, capsys: Captured) -> None:
    write(root / "vault-agent.yaml", "")
    write(root / "inbox/mine.md", "mine\n")
    assert main(["init", "--yes", str(root)]) == 0
    err = capsys.readouterr().err
    assert "your 2 files" in err and "shares" not in err and "adds" not in err


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_vault_without_links_is_asked_about_the_sample(root: Path, language: str, capsys: Captured) -> None:
    write(root / "Secret.md", "nothing links here\n")
    assert main(["init", "--yes", str(root), "--language", language, "--json"]) == 0
    assert "Secret" not in " ".join(json.loads(capsys.readouterr().out)["next"])
    (note,) = [path for name in ("Welcome.md", "欢迎.md") if (path := root / "Agent" / name).exists()]
    assert "{question}" not in note.read_text("utf-8")
