"""Streaming, usage, a plain answer, a summary and a cancelled call, over HTTP with a real model at the other end."""

from dataclasses import replace

import pytest

from agent.clock import SystemClock
from agent.config.load import load_settings
from agent.errors import Interrupted
from agent.llm.messages import Assistant, Context, Request, System, ToolCall, ToolResult, ToolSpec, User
from agent.llm.providers import Providers, providers
from tests.llm.dialects import counted

pytestmark = pytest.mark.real_model


@pytest.fixture
def models(real_model: str) -> Providers:
    """The models as a person would set them up: the preset, and the server's address."""
    llm = load_settings(environ={"VAULT_AGENT_HOME": "/nowhere"}).settings.llm
    llm = replace(llm, preset="llamacpp", base_url=f"{real_model}/v1", window=2048, max_output=12, timeout_seconds=300)
    return providers(llm, SystemClock(), counted)


def test_an_answer_is_streamed_and_its_usage_is_told(models: Providers) -> None:
    pieces: list[str] = []
    reply = models.main.chat(Request((System("Be brief."), User("Say hello to Anna, 你好."))), pieces.append)
    assert len(pieces) > 1
    assert "".join(pieces).rstrip() == reply.message.text.rstrip() != ""  # a cut answer may end with a blank
    assert reply.stop in ("end", "length")
    assert 10 < reply.usage.input < 200
    assert 0 < reply.usage.output <= 12
    assert "/" not in reply.model


def test_a_conversation_with_tools_and_context_is_accepted(models: Providers) -> None:
    tool = ToolSpec("vault_read", "Read a note.", {"type": "object", "properties": {"path": {"type": "string"}}})
    messages = (
        System("Be brief."),
        Context("Anna drinks tea.", "memory"),
        User("What does the note say?", "Anna"),
        Assistant("", (ToolCall("call_1", "vault_read", {"path": "tea.md"}),)),
        ToolResult("call_1", "vault_read", "Oolong is in the blue tin."),
    )
    reply = models.main.chat(Request(messages, (tool,)))
    assert reply.usage.input > 20


def test_a_summary_is_written_by_the_small_model(models: Providers) -> None:
    story = "Anna planted beans in May. In July she picked them. " * 10
    reply = models.fast.chat(Request((System("Summarise in one sentence."), User(story)), max_output=8))
    assert reply.message.text.strip()
    assert reply.usage.output <= 12, "room to think is added, up to the longest answer of the model"


def test_the_same_beginning_is_served_from_the_cache(models: Providers) -> None:
    begin = (System("Be brief. " * 40), User("One"))
    models.main.chat(Request(begin, max_output=1))
    reply = models.main.chat(Request((*begin, Assistant("Two"), User("Three")), max_output=1))
    assert reply.usage.cached > 20


def test_a_call_can_be_cancelled_and_the_next_one_works(models: Providers) -> None:
    heard: list[str] = []
    with pytest.raises(Interrupted):
        models.main.chat(Request((User("Tell me a story."),)), heard.append, lambda: bool(heard))
    assert models.main.chat(Request((User("Hello"),), max_output=2)).message.text
