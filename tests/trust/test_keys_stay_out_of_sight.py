"""A key in the settings is seen nowhere, whatever the model's server says: not by the person, in no note, in no log."""

import json
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.llm.dialects import openai
from tests.llm.servers import Part, answers, model_server, streams
from tests.trust.agent_honesty import KEY, furnish
from tests.trust.logs import reported
from tests.vaults import git, make_vault

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
