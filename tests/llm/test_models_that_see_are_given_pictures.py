"""A picture that a tool has read reaches a model that sees, in the form of each wire; another model is told so."""

from base64 import b64decode
from dataclasses import replace
from typing import Any

import pytest

from agent.config.secrets import Secret
from agent.context.budget import count_message
from agent.llm import anthropic, openai, responses
from agent.llm.dialect import Dialect
from agent.llm.endpoint import Endpoint
from agent.llm.known_models import sees_pictures
from agent.llm.messages import (
    IMAGE_TOKENS,
    Assistant,
    Context,
    ImagePart,
    Model,
    Request,
    System,
    ToolCall,
    ToolResult,
    User,
)
from tests.fakes import FakeClock
from tests.llm.dialects import counted, no_jitter
from tests.llm.sdk_types import check_body
from tests.llm.servers import answers, model_server

DATA = b"\x89PNG\r\n\x1a\n of a tree"
IMAGE = ImagePart("trees/oak.png", "image/png", DATA)
CALLS = (ToolCall("c1", "vault_read", {"path": "trees/oak.png"}), ToolCall("c2", "vault_read", {"path": "a.md"}))
READ = (
    System("You help."),
    User("What is on it?"),
    Assistant("", CALLS),
    ToolResult("c1", "vault_read", "trees/oak.png: a picture", images=(IMAGE,)),
    Context("remember the task", "anchor"),
    ToolResult("c2", "vault_read", "a note"),
)
PLACE = Endpoint("http://127.0.0.1:1/v1", Model("seer", 32_768, 4_096, sees=True), Secret("env:KEY"))


def body(wire: str, *more: Any, plain: bool = False) -> Any:
    made = {"openai": openai, "responses": responses, "anthropic": anthropic}[wire].body(
        PLACE, Request((*READ, *more)), Dialect("max_tokens", {}, plain=plain)
    )
    if not plain:
        check_body(wire, made)
    return made


def test_anthropic_has_it_in_the_result() -> None:
    result = body("anthropic")["messages"][2]["content"][0]
    text, image = result["content"]
    assert text == {"type": "text", "text": "trees/oak.png: a picture"}
    assert image["source"]["media_type"] == "image/png" and b64decode(image["source"]["data"]) == DATA


def test_the_responses_api_has_it_in_the_output() -> None:
    outputs = [each["output"] for each in body("responses")["input"] if each.get("type") == "function_call_output"]
    assert outputs[0][1]["image_url"] == IMAGE.url and outputs[1] == "a note"


def test_chat_completions_have_it_after_all_results() -> None:
    turns = body("openai", Assistant("An oak."), User("Sure?"))["messages"]
    assert [turn["role"] for turn in turns] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "assistant",
        "user",
    ]
    name, image = turns[5]["content"]
    assert name["text"] == "[trees/oak.png]" and image["image_url"]["url"] == IMAGE.url
    asked = body("openai", User("And now?"))["messages"][-1]
    assert asked["content"][2] == {"type": "text", "text": "And now?"}, "neighbouring turns of a user are joined"
    assert IMAGE.base64 not in str(body("openai", plain=True)), "a template that knows text alone is given text alone"


@pytest.mark.parametrize("sees", [True, False])
def test_a_model_that_does_not_see_is_told(sees: bool) -> None:
    with model_server(answers("200 OK", b'{"choices": [{"message": {"content": "An oak."}}]}')) as server:
        place = replace(PLACE, base_url=server.url, model=replace(PLACE.model, sees=sees), key=Secret(""))
        openai.OpenAI(place, FakeClock(), counted, no_jitter).chat(Request(READ))
        sent = server.asked[0].body.decode()
    assert (IMAGE.base64 in sent, "this model does not see pictures" in sent) == (sees, not sees)


def test_a_picture_counts() -> None:
    assert count_message(READ[3], counted) - count_message(ToolResult("c1", "vault_read", READ[3].text), counted) == (
        IMAGE_TOKENS
    )


@pytest.mark.parametrize(
    ("name", "sees"),
    [
        ("claude-sonnet-5-5", True),
        ("anthropic/claude-3-haiku", True),
        ("claude-2.1", False),
        ("gpt-6-sol", True),
        ("gpt-4o-mini", True),
        ("gpt-oss-20b", False),
        ("gemini-3.8-flash", True),
        ("o3", True),
        ("qwen2.5vl:7b", True),
        ("qwen3-vl-8b", True),
        ("qwen3:8b", False),
        ("deepseek-v4-pro", False),
        ("llama3.2-vision", True),
        ("llama3", False),
        ("default", False),
    ],
)
def test_models_that_see_are_known_by_name(name: str, sees: bool) -> None:
    assert sees_pictures(name) is sees
