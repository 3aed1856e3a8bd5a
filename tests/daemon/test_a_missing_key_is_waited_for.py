"""A daemon without its model's key says so at once, in the note and on its terminal, and goes on when it comes."""

from pathlib import Path

import pytest

from agent.config.secrets import save_key
from agent.markdown.note import Note
from tests.daemon.house import BRISK, House, living
from tests.llm.servers import ModelServer, Visit, model_server
from tests.stories.agents import furnish
from tests.vaults import git, write


def says_green(visit: Visit) -> None:
    visit.head()
    visit.send(b'data: {"choices": [{"delta": {"content": "Green tea."}, "finish_reason": "stop"}]}\n\n')
    visit.send(b"data: [DONE]\n\n")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Where the key is expected."""
    return tmp_path / "home/config/keys/main"


def begin(tmp_path: Path, put: pytest.MonkeyPatch, key: Path, server: ModelServer) -> Path:
    """A vault whose model speaks at this server, and takes the key in the file."""
    root = furnish(tmp_path, put.setenv)
    told = {"LLM__BASE_URL": server.url, "LLM__MODEL": "m", "LLM__API_KEY": f"file:{key}"}
    told |= {"INBOX__QUIET_SECONDS": "1", "MEMORY__CAPTURE": "off"}
    for name, value in {**BRISK, **{f"VAULT_AGENT_{name}": value for name, value in told.items()}}.items():
        put.setenv(name, value)
    return root


def body(path: Path) -> str:
    return Note.parse(path.read_bytes()).body


def status(path: Path) -> str:
    return Note.parse(path.read_bytes()).string("status") or ""


def state(house: House) -> str:
    return house.workspace.daemon_state.read_text()


def test_the_note_says_what_helps_and_is_answered_when_the_key_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with model_server(says_green) as server:
        root = begin(tmp_path, monkeypatch, key, server)
        note, plan = root / "inbox/tea.md", root / "plan.md"
        with living(root) as house:
            house.until(lambda: "no model can be asked" in state(house), "the status says it before anybody asks")
            write(note, "Which tea?\n")
            write(plan, "# Plan\n\n- [ ] @agent which tea?\n- [ ] mine\n")
            house.until(lambda: status(note) == "waiting" and "waiting %%" in body(plan), "both notes say it")
            assert "`vault-agent config set llm.api_key --prompt`" in body(note)
            assert body(note).startswith("Which tea?\n\n%% vault-agent: waiting %%")
            assert "- [ ] @agent which tea?\n" in body(plan), "the task is still open"
            assert server.asked == []
        with living(root) as house:
            write(note, note.read_text() + "\nAnd which cup?\n")
            house.until(lambda: body(note).rstrip().endswith("end of waiting %%"), "what was added waits, too")
            assert body(note).count("waiting %%") == 2
            save_key(key.parent, key.name, "a-key-of-some-length")
            house.until(lambda: status(note) == "done" and "[x] @agent" in body(plan), "both are answered")
            house.until(lambda: "no model can be asked" not in state(house), "the status is glad")
    assert "waiting" not in note.read_text() + plan.read_text()
    assert body(note).startswith("Which tea?\n\n\nAnd which cup?\n\n%% vault-agent: answer ")
    assert "Green tea." in body(note) and plan.read_text().endswith("- [ ] mine\n")
    said = capfd.readouterr().err
    assert "config set llm.api_key --prompt" in said and "is there now" in said
    assert "a-key-of-some-length" not in git(root, "log", "-p") + said
