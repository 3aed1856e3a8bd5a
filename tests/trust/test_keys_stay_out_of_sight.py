"""A key in the settings is seen nowhere, whatever the model's server says: not by the person, in no note, in no log."""

import json
from pathlib import Path
from random import Random

import pytest

from agent.interfaces.cli.main import main
from tests.llm.dialects import Wanted, openai
from tests.llm.servers import Part, answers, model_server, streams
from tests.trust.agent_honesty import KEY, furnish
from tests.trust.keys import SPELLINGS, Told, found, furnish_patiently, random_key
from tests.trust.logs import reported
from tests.vaults import git, make_vault, write

ECHO = json.dumps({"error": {"message": f"you said Bearer {KEY} to us", "type": "x", "param": KEY}}).encode()
SAID = (
    ("401", answers("401 Unauthorized", ECHO)),
    ("400", answers("400 Bad Request", ECHO)),
    ("404", answers("404 Not Found", ECHO)),
    ("429", answers("429 Too Many Requests", ECHO, retry_after="0")),
    ("500", answers("500 Oops", f"<html>{KEY}</html>".encode(), "text/html")),
    ("502 as text", answers("502 Bad Gateway", f"upstream said {KEY}".encode(), "text/plain")),
    ("a redirect", answers("302 Found", b"", location=f"http://elsewhere.example/?key={KEY}")),
    ("an error in the stream", streams(b"data: " + ECHO + b"\n\n")),
    ("garbage in the stream", streams(f"data: {{{KEY}\n\n".encode())),
    ("no stream", streams(KEY.encode())),
    ("an unknown tool", streams(openai.begin + openai.calls(()) + openai.text(f"no tool {KEY}"))),
    ("the answer", streams(openai.answer(f"Your key is {KEY}, isn't it?"))),
)  # fmt: skip


@pytest.mark.parametrize("json_output", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("said", [part for _, part in SAID], ids=[name for name, _ in SAID])
def test_no_word_of_a_server_brings_the_key_to_light(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    said: Part,
    json_output: bool,
) -> None:
    furnish(tmp_path / "home", monkeypatch.setenv)
    monkeypatch.setenv("VAULT_AGENT_LLM__WIRE", "openai")
    monkeypatch.setenv("VAULT_AGENT_LLM__RETRIES", "0")
    monkeypatch.setenv("VAULT_AGENT_LOG__LEVEL", "debug")
    root = make_vault(tmp_path, {"a.md": "text\n"}).place.root
    monkeypatch.chdir(root)
    with reported() as log, model_server(said) as server:
        monkeypatch.setenv("VAULT_AGENT_LLM__BASE_URL", server.url)
        main(["ask", "What now?", *(["--json"] if json_output else [])])
        assert server.asked and KEY in server.asked[0].headers["authorization"]
    out, err = capfd.readouterr()
    assert KEY not in out + err + log.getvalue() and (out or err)
    assert KEY not in git(root, "log", "-p", "--all")
    for place in (root, tmp_path / "home"):
        for file in place.rglob("*"):
            assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


SIZES = [
    *((spelled, 1) for spelled in ("as it is", "in small letters", "with blanks", "in base64")),
    *(pytest.param(spelled, 30, marks=pytest.mark.chaos) for spelled in SPELLINGS),
]


@pytest.mark.parametrize(("spelled", "size"), SIZES)
def test_a_key_that_is_told_is_kept_nowhere(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    spelled: str,
    size: int,
) -> None:
    random = Random(f"{spelled} {size}")
    for number in range(size):
        told, folder = Told(random_key(random), spelled), tmp_path / str(number)
        printed = told.talk(folder, monkeypatch.setenv, capfd.readouterr, monkeypatch.chdir)
        assert not found(folder / "vault", (folder / "home",), told.key, printed), told


def test_a_note_of_the_person_that_holds_the_key_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The agent answers in it, the person's box in it is ticked, and their line is still there to the letter."""
    furnish_patiently(tmp_path / "home", monkeypatch.setenv)
    line = f"- [ ] @agent is {KEY} my key?"
    root = make_vault(tmp_path, {"inbox/key.md": f"# Mine\n\n{line}\n\nafter {KEY}\n"}).place.root
    monkeypatch.chdir(root)
    with model_server(streams(openai.answer(f"It is {KEY}."))) as server:
        monkeypatch.setenv("VAULT_AGENT_LLM__BASE_URL", server.url)
        assert main(["run", "inbox/key.md"]) == 0
        assert KEY not in server.asked[0].body.decode()
    note = (root / "inbox/key.md").read_text("utf-8")
    assert f"is {KEY} my key?" in note and f"\nafter {KEY}\n" in note and note.count(KEY) == 2
    assert "Answer" in note
    for name in ("sessions", "daily", "entries"):
        assert not any(KEY in file.read_text("utf-8") or KEY in file.name for file in (root / name).rglob("*.md"))
    main(["get", "inbox/key.md"])
    assert KEY not in "".join(capfd.readouterr())


@pytest.mark.parametrize("command", [["commit"], ["remember", "a plain line"]], ids=["commit", "before ours"])
def test_the_commit_of_a_persons_file_does_not_name_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    furnish_patiently(tmp_path / "home", monkeypatch.setenv)
    root = make_vault(tmp_path, {}).place.root
    monkeypatch.chdir(root)
    write(root / f"notes/{'long-' * 18}{KEY}.md", "x\n")
    assert main(command) == 0 and main(["commit"]) == 0
    log = git(root, "log", "--format=%B") + git(root, "reflog") + (root / ".git/logs/HEAD").read_text("utf-8")
    assert KEY not in log and KEY[:12] not in log and "[secret]" in log


def test_a_note_is_not_written_anew_without_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is shown `[secret]`: written back, the person's line would be lost."""
    furnish_patiently(tmp_path / "home", monkeypatch.setenv)
    text = f"# Keys\n\nmine: {KEY}\n"
    root = make_vault(tmp_path, {"notes/keys.md": text}).place.root
    monkeypatch.chdir(root)
    read = Wanted("1", "vault_read", (json.dumps({"path": "notes/keys.md"}),))
    again = json.dumps({"path": "notes/keys.md", "content": "# My keys\n\nmine: [secret]\n"})
    calls = (read, Wanted("2", "vault_write", (again,)))
    parts = [openai.begin + openai.calls((call,)) + openai.end("tools") for call in calls]
    with model_server(*map(streams, parts), streams(openai.answer("Done."))) as server:
        monkeypatch.setenv("VAULT_AGENT_LLM__BASE_URL", server.url)
        assert main(["ask", "Tidy my keys"]) == 0
        assert "leave the key out" in server.asked[2].body.decode()
    assert (root / "notes/keys.md").read_text("utf-8") == text
