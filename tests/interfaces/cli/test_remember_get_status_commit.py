"""The everyday commands, as a person types them."""

import io
import re
import sys
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from agent.markdown.note import Note
from tests.interfaces.cli.conftest import Run
from tests.vaults import committed, git, head, write


def test_remember_writes_an_entry_and_says_where_and_in_which_commit(root: Path, run: Run) -> None:
    document = run("remember", "Anna likes green tea\n\nand 绿茶", "-k", "tea")
    path = str(document["path"])
    assert document["commit"] == head(root)
    assert re.fullmatch(r"entries/\d{4}/\d\d/\d{4}-\d\d-\d\d-anna-likes-green-tea-[0-9a-z]{6}\.md", path)
    note = Note.parse(committed(root, path) or b"")
    assert note.header["id"] == document["id"]
    assert (note.type, note.header["scope"], note.strings("keywords")) == ("user_explicit", "user", ("tea",))
    assert note.body == "Anna likes green tea\n\nand 绿茶\n"


@pytest.mark.parametrize(
    "text", ["- [ ] not a flag", "--- dashes", "   spaces ", "中文、没有空格的一句话", "a/b\\c: *?<>|", "…", "😀"]
)
def test_any_text_can_be_remembered(root: Path, run: Run, text: str) -> None:
    document = run("remember", "--", text)
    assert text.strip() in Note.parse((root / str(document["path"])).read_bytes()).body
    assert git(root, "status", "--porcelain") == ""


def test_words_need_no_quotes(root: Path, run: Run) -> None:
    document = run("remember", "Anna", "likes", "green tea", "-k", "tea")
    assert Note.parse((root / str(document["path"])).read_bytes()).body == "Anna likes green tea\n"
    assert str(document["path"]) in str(run("search", "green", "tea", "-n", "1")["hits"])
    assert "Anna likes green tea" in str(run("recall", "What", "does", "Anna", "like?"))
    assert run("context", "green", "tea")["task"] == "green tea"


def test_remember_reads_standard_input(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("from a pipe, 管道\n".encode())))
    document = run("remember", "-")
    assert "from a pipe, 管道" in (root / str(document["path"])).read_text("utf-8")


def test_there_must_be_something_to_remember(run: Run) -> None:
    error = run("remember", "  \n", code=2)["error"]
    assert isinstance(error, dict) and error["type"] == "UserError" and "remember" in error["hint"]


def test_two_memories_that_begin_alike_are_two_notes(root: Path, run: Run) -> None:
    same = "the same words in the beginning of a memory that is long enough for its name"
    assert run("remember", f"{same}: one")["path"] != run("remember", f"{same}: two")["path"]


def test_get_prints_a_note_by_path_by_name_and_by_id(root: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("get", "a.md")["path"] == run("get", "a")["path"] == "a.md"
    assert run("get", "01HZZZZZZZ0000000000000001")["path"] == "a.md"
    remembered = run("remember", "find me by id")
    assert run("get", str(remembered["id"]))["path"] == remembered["path"]
    write(root / "dos.md", b"\xef\xbb\xbfone\r\ntwo")
    assert main(["get", "dos.md"]) == 0
    assert capsys.readouterr().out.encode() == b"\xef\xbb\xbfone\r\ntwo"


def test_get_takes_a_path_from_the_working_folder_and_one_beside_a_folder_of_its_name(
    root: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "notes/tea.md", "green\n")
    write(root / "notes/tea/milk.md", "oat\n")
    assert run("get", "notes/tea")["text"] == "green\n"
    monkeypatch.chdir(root / "notes")
    for name in ("tea.md", "tea", "notes/tea.md"):
        assert run("get", name)["path"] == "notes/tea.md"
    assert run("get", "a")["path"] == "a.md"
    assert run("forget", "tea.md", "--dry-run")["ok"]
    assert run("forget", "tea.md", "--purge", "--dry-run")["ok"]
    assert run("get", "tea/none", code=2)["error"]


def test_get_and_diff_pass_escapes_on_only_when_asked(root: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write(root / "b.md", "two \x1b]0;title\x07\n")
    for command in (["get", "b.md"], ["diff"]):
        assert main(command) == 0
        assert b"two \\x1b]0;title\\x07\n" in capfdbinary.readouterr().out
        assert main([*command, "--raw"]) == 0
        assert b"two \x1b]0;title\x07\n" in capfdbinary.readouterr().out


def test_get_shows_a_note_as_it_was(root: Path, run: Run) -> None:
    then = head(root)
    write(root / "b.md", "two, edited\n")
    run("commit")
    assert run("get", "b.md", "--at", then)["text"] == "two\n"
    assert run("get", "b.md")["text"] == "two, edited\n"
    error = run("get", "b.md", "--at", "--all", code=2)["error"]
    assert isinstance(error, dict) and "no commit" in error["message"]


@pytest.mark.parametrize(
    "name", ["../secret.md", "/etc/hostname", ".git/config", "missing", "01HZZZZZZZ0000000000000099"]
)
def test_get_says_plainly_when_there_is_no_such_note(run: Run, name: str) -> None:
    error = run("get", name, code=2)["error"]
    assert isinstance(error, dict) and error["type"] in {"BadPath", "NoteGone"}


def test_commit_records_my_edits_in_my_name_and_leaves_what_i_staged(root: Path, run: Run) -> None:
    write(root / "a.md", "staged\n")
    git(root, "add", "a.md")
    write(root / "b.md", "edited\n")
    document = run("commit")
    assert document["commit"] == head(root)
    assert document["files"] == ["b.md"]
    assert document["left"] == [{"path": "a.md", "kind": "staged"}]
    assert git(root, "log", "-1", "--format=%an").strip() == "Anna"
    assert run("commit")["commit"] is None


def test_status_tells_what_is_committed_what_waits_and_what_conflicts(root: Path, run: Run) -> None:
    clean = run("status")
    assert (clean["dirty"], clean["conflicts"], clean["unfinished"]) == ([], [], 0)
    assert clean["queue"] == {"waiting": 0, "failed": {}}
    write(root / "b.md", "edited\n")
    git(root, "checkout", "-q", "--detach")
    waiting = run("remember", "later")
    assert waiting["commit"] is None and "detached" in str(waiting["queued"])
    seen = run("status")
    assert seen["dirty"] == [{"path": "b.md", "kind": "edited"}]
    assert seen["branch"] is None and "detached" in str(seen["blocked"])
    assert seen["queue"] == {"waiting": 1, "failed": {}}
    git(root, "checkout", "-q", "main")
    run("commit")
    assert run("status")["queue"] == {"waiting": 0, "failed": {}}
    assert (root / str(waiting["path"])).exists()


def test_a_command_outside_a_vault_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert main(["status"]) == 2
    assert "vault-agent init" in capsys.readouterr().err


def test_what_is_remembered_already_is_counted_and_said(run: Run, root: Path) -> None:
    first = run("remember", "Anna likes green tea.")
    again = run("remember", "Anna likes green tea")
    other = run("remember", "Anna likes green tea in the morning")
    assert (first["known"], again["known"], other["known"]) == (False, True, False)
    assert again["path"] == first["path"] != other["path"]
    assert "times: 2\n" in (root / str(first["path"])).read_text("utf-8")


def test_status_names_the_missing_key_and_the_command_that_takes_it(
    root: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_LLM__PRESET", "anthropic")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    agent = run("status")["agent"]
    assert isinstance(agent, dict) and "there is no key at env:ANTHROPIC_API_KEY" in agent["problem"]
    assert "vault-agent config set llm.api_key --prompt" in agent["problem"]
