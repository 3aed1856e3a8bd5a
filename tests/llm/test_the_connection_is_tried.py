"""Whether the model can be asked is found out without a cost, without a text of the person's, and in bounded time."""

from dataclasses import replace

import pytest

from agent.clock import SystemClock
from agent.config.load import load_settings
from agent.config.run_settings import LlmSettings
from agent.config.secrets import Secret
from agent.errors import MissingKey, Permanent, Retryable
from agent.llm.connection import own_models, try_connection
from agent.llm.model_key import missing_key
from tests.llm.servers import Part, Visit, model_server

NONE = load_settings(None, environ={"VAULT_AGENT_HOME": "/nowhere"}).settings.llm
CLOCK = SystemClock()


class HurriedClock(SystemClock):
    """The machine's clock, with seconds that pass forty times quicker."""

    def monotonic(self) -> float:
        return 40 * SystemClock.monotonic(self)


def answers(status: str, body: bytes) -> Part:
    def play(visit: Visit) -> None:
        visit.head(status, "application/json")
        visit.send(body)

    return play


def at(url: str, model: str = "m") -> LlmSettings:
    return replace(NONE, base_url=url, model=model)


def test_the_key_is_sent_and_no_text_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "the-key-of-this-test")
    with model_server(answers("200 OK", b'{"data": [{"id": "m:8b"}, {"id": 3}, 4]}'), tells=True) as server:
        found = try_connection(replace(at(server.url), api_key=Secret("env:MINE")), "main", CLOCK)
    assert found is not None and found.models == ("m:8b",) and found.lists_model and found.model == "m"
    (asked,) = server.asked
    assert asked.line.startswith("GET /v1/models ") and asked.body == b""
    assert asked.headers["authorization"] == "Bearer the-key-of-this-test"


def test_the_models_to_choose_are_those_of_ones_own_server() -> None:
    with model_server(answers("200 OK", b'{"data": [{"id": "qwen3:8b"}, {"id": "gemma"}]}'), tells=True) as server:
        assert own_models(at(server.url, ""), "ollama", CLOCK) == ("qwen3:8b", "gemma")
        (asked,) = server.asked
    assert asked.line.startswith("GET /v1/models ")
    assert own_models(at(server.url), "ollama", CLOCK) == (), "it has gone"
    assert own_models(NONE, "openai", CLOCK) == (), "a service of somebody else is not asked"


def test_a_server_that_lists_nothing_is_reached_all_the_same() -> None:
    with model_server(answers("404 Not Found", b""), tells=True) as server:
        found = try_connection(at(server.url), "main", CLOCK)
    assert found is not None and found.models == () and found.lists_model


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        ("401 Unauthorized", b"{}", Permanent),
        ("503 Busy", b"{}", Retryable),
        ("200 OK", b"<html>log in</html>", Permanent),
        ("302 Found", b"", Permanent),
    ],
)
def test_a_server_that_refuses_is_asked_once(status: str, body: bytes, error: type[Exception]) -> None:
    with model_server(answers(status, body), tells=True) as server:
        with pytest.raises(error):
            try_connection(at(server.url), "main", CLOCK)
        assert len(server.asked) == 1


def test_a_silent_server_is_not_waited_for_longer_than_a_person_waits() -> None:
    with model_server(lambda visit: visit.wait(30), tells=True) as server, pytest.raises(Retryable, match="within 6 s"):
        try_connection(at(server.url), "main", HurriedClock())


def test_without_a_key_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MINE", raising=False)
    with model_server(answers("200 OK", b"{}"), tells=True) as server:
        keyless = replace(at(server.url), api_key=Secret("env:MINE"))
        with pytest.raises(MissingKey):
            try_connection(keyless, "main", CLOCK)
        assert server.asked == []
    missing = missing_key(keyless)
    assert missing is not None and missing.setting == "llm.api_key" and "env:MINE" in missing.why


@pytest.mark.parametrize(
    "llm",
    [
        NONE,
        replace(NONE, wire="scripted"),
        replace(NONE, preset="ollama", model="m"),
        replace(NONE, preset="ollama"),
        replace(NONE, preset="anthropic", api_key=Secret("keyring:mine")),
    ],
)
def test_no_key_is_missed_where_none_is_needed_or_the_keyring_would_be_asked(llm: LlmSettings) -> None:
    assert missing_key(llm) is None
