"""Secrets of this machine: not in requests, not in logs."""

import io
import logging
from dataclasses import dataclass, replace

import pytest

from agent.config.load import load_settings
from agent.config.logs import NoSecrets, keep_out_of_logs
from agent.config.secrets import Secret, known_secrets
from agent.errors import AgentError
from agent.llm.messages import Assistant, Context, JsonObject, Request, System, ToolCall, ToolResult, User
from agent.llm.redaction import RedactingProvider
from agent.llm.scripted import Scripted

KEY = "canary/4711+secret=value"
ENCODED = "canary%2F4711%2Bsecret%3Dvalue"


def test_every_secret_setting_and_every_api_key_is_known() -> None:
    settings = load_settings(None, environ={}).settings
    settings = settings.with_sections(llm=replace(settings.llm, api_key=Secret("env:MY_KEY")))
    environ = {"MY_KEY": KEY, "OPENAI_API_KEY": "another-long-key", "API_KEY_HELP": "how to get one", "X_API_KEY": "no"}
    assert known_secrets(settings.secrets, environ) == ("another-long-key", KEY)
    assert known_secrets(settings.secrets, {}) == ()
    assert known_secrets(settings.with_sections(llm=replace(settings.llm, api_key=Secret(KEY))).secrets, {}) == (KEY,)


def test_a_word_that_some_servers_want_for_a_key_is_no_secret() -> None:
    assert known_secrets([Secret("none")], {}) == ()


def test_nothing_that_goes_to_the_model_has_the_secret_in_it() -> None:
    model = Scripted()
    arguments: JsonObject = {"url": f"http://x/{KEY}", KEY: [{"deep": KEY}, 7, None]}
    RedactingProvider(model, (KEY,)).chat(
        Request(
            (
                System(f"key {KEY}"),
                Context(f"memory {ENCODED}", "memories"),
                User(f"my key is {KEY}", "Anna"),
                Assistant(KEY, (ToolCall("1", "web_fetch", arguments),)),
                ToolResult("1", "web_fetch", f"refused: {KEY}", failed=True),
            )
        )
    )
    sent = repr(model.requests[-1])
    assert "4711" not in sent and sent.count("***") == 8
    assert "7, None" in sent and "Anna" in sent


def test_messages_without_a_secret_stay_the_very_same() -> None:
    model = Scripted()
    messages = (System("s"), User("u"))
    RedactingProvider(model, (KEY,)).chat(Request(messages))
    assert all(sent is given for sent, given in zip(model.requests[-1].messages, messages, strict=True))


@dataclass
class Log:
    logger: logging.Logger
    stream: io.StringIO


@pytest.fixture
def log() -> Log:
    logger = logging.getLogger("agent.test-of-secrets")
    logger.propagate = False
    stream = io.StringIO()
    logger.handlers = [logging.StreamHandler(stream)]
    keep_out_of_logs(("something else",), logger.name)
    keep_out_of_logs((KEY,), logger.name)
    return Log(logger, stream)


def test_a_log_shows_no_secret_not_even_in_a_traceback(log: Log) -> None:
    log.logger.error("failed with %s and %d", KEY, 7)
    try:
        raise AgentError(f"the server said {KEY}")
    except AgentError:
        log.logger.warning("oh no", exc_info=True)
    shown = log.stream.getvalue()
    assert "4711" not in shown and "failed with *** and 7" in shown and "AgentError: the server said ***" in shown
    assert len([each for each in log.logger.handlers[0].filters if isinstance(each, NoSecrets)]) == 1
