"""From the settings to the models: presets, what is missing, and who gets which key."""

import socket
from dataclasses import replace

import pytest

from agent.config.load import load_settings
from agent.config.run_settings import LlmSettings
from agent.config.secrets import Secret
from agent.errors import ConfigError
from agent.llm.anthropic import Anthropic
from agent.llm.endpoint import Endpoint
from agent.llm.known_models import KnownModel, Price, cost, known_model
from agent.llm.messages import Request, Usage, User
from agent.llm.offline import Offline
from agent.llm.openai import OpenAI
from agent.llm.presets import ModelKind, endpoint, model_table, price
from agent.llm.program.provider import ProgramModel
from agent.llm.providers import providers
from agent.llm.responses import Responses
from agent.llm.scripted import Scripted
from tests.fakes import FakeClock
from tests.llm.dialects import counted, no_jitter

CACHED, FRESH, ANSWER = Usage(100_000, 0, 100_000), Usage(100_000), Usage(0, 100_000)
DEFAULT = load_settings(environ={"VAULT_AGENT_HOME": "/nowhere"}).settings.llm


def place(llm: LlmSettings, role: ModelKind = "main") -> Endpoint:
    found = endpoint(llm, role)
    assert found is not None
    return found[1]


def test_without_any_setting_nobody_is_asked() -> None:
    chosen = providers(DEFAULT, FakeClock(), counted)
    assert isinstance(chosen.main, Offline)
    assert chosen.fast is chosen.main


def test_a_script_answers_in_both_roles() -> None:
    chosen = providers(replace(DEFAULT, wire="scripted", preset="openai"), FakeClock(), counted)
    assert isinstance(chosen.main, Scripted)
    assert chosen.fast is chosen.main
    assert "hello" in chosen.main.chat(Request((User("hello"),))).message.text


@pytest.mark.parametrize("name", list(model_table().presets))
def test_every_preset_leads_to_a_model(name: str) -> None:
    preset = model_table().presets[name]
    llm = replace(DEFAULT, preset=name, model=preset.main or "my-model")
    chosen = providers(llm, FakeClock(), counted, no_jitter)
    wires = {"anthropic": Anthropic, "openai": OpenAI, "responses": Responses, "program": ProgramModel}
    assert isinstance(chosen.main, wires[preset.wire])
    assert chosen.main.model.name == llm.model
    assert place(llm).key.reference == (f"env:{preset.key}" if preset.key else "")
    assert place(llm).local == (not preset.key and preset.wire != "program")


def test_a_preset_brings_its_small_model_and_a_named_one_stands_alone() -> None:
    assert providers(replace(DEFAULT, preset="openai"), FakeClock(), counted).fast.model.name == "gpt-6-luna"
    alone = providers(replace(DEFAULT, preset="openai", model="gpt-4o"), FakeClock(), counted)
    assert alone.fast is alone.main
    both = replace(DEFAULT, preset="openai", model="gpt-4o", fast=replace(DEFAULT.fast, model="gpt-4o-mini"))
    assert providers(both, FakeClock(), counted).fast.model.name == "gpt-4o-mini"


def test_a_model_or_an_address_alone_means_openai() -> None:
    assert place(replace(DEFAULT, model="gpt-4o")).base_url == "https://api.openai.com/v1"
    found = endpoint(replace(DEFAULT, base_url="http://127.0.0.1:9000/v1/", model="mine"))
    assert found is not None
    assert (found[0], found[1].base_url) == ("openai", "http://127.0.0.1:9000/v1")


def test_a_key_of_openai_is_not_sent_to_somebody_else() -> None:
    assert place(replace(DEFAULT, base_url="https://example.org/v1", model="m")).key == Secret("")
    assert place(replace(DEFAULT, wire="anthropic", base_url="https://example.org/v1", model="m")).key == Secret("")
    assert place(replace(DEFAULT, wire="anthropic")).key == Secret("env:ANTHROPIC_API_KEY")
    mine = replace(DEFAULT, preset="openai", api_key=Secret("env:MINE"))
    assert place(mine).key == Secret("env:MINE")


@pytest.mark.parametrize(
    ("llm", "names"),
    [
        (replace(DEFAULT, preset="opnai"), "openai, anthropic"),
        (replace(DEFAULT, preset="ollama"), "llm.model"),
        (replace(DEFAULT, base_url="http://127.0.0.1:1/v1"), "llm.model"),
        (replace(DEFAULT, api_key=Secret("env:X")), "llm.preset"),
        (replace(DEFAULT, fast=replace(DEFAULT.fast, model="x")), "llm.preset"),
        (replace(DEFAULT, preset="openai", wire="anthropic"), "llm.base_url"),
        (replace(DEFAULT, model="m", base_url="localhost:11434"), "http://"),
        (replace(DEFAULT, model="m", base_url="https://me:hunter2@example.org/v1"), "llm.api_key"),
        (replace(DEFAULT, model="m", base_url="https://example.org/v1?key=hunter2"), "http://"),
        (replace(DEFAULT, model="m", base_url="ftp://example.org"), "http://"),
        (replace(DEFAULT, model="m", base_url="http://[::1"), "http://"),
        (replace(DEFAULT, model="m", base_url="http://a:99999/"), "http://"),
        (replace(DEFAULT, model="m", base_url="http://a..b/"), "http://"),
        (replace(DEFAULT, model="m", base_url="http://a/\nHost: b"), "http://"),
    ],
)
def test_half_a_model_is_explained(llm: LlmSettings, names: str) -> None:
    with pytest.raises(ConfigError) as caught:
        providers(llm, FakeClock(), counted)
    assert caught.value.message.startswith("llm.")
    assert names in caught.value.hint
    assert "hunter2" not in caught.value.message + caught.value.hint


def test_openai_s_own_server_is_spoken_to_in_its_own_way_unless_the_settings_say_otherwise() -> None:
    for llm, wire in (
        (replace(DEFAULT, preset="openai"), "responses"),
        (replace(DEFAULT, model="gpt-6-sol"), "responses"),
        (replace(DEFAULT, model="gpt-6-sol", base_url="https://api.openai.com/v1"), "responses"),
        (replace(DEFAULT, preset="openai", wire="openai"), "openai"),
        (replace(DEFAULT, model="gpt-6-sol", wire="openai"), "openai"),
        (replace(DEFAULT, model="gpt-6-sol", base_url="https://example.org/v1"), "openai"),
        (replace(DEFAULT, preset="openai", model="mine", base_url="https://example.org/v1"), "openai"),
        (replace(DEFAULT, preset="openai", model="mine", base_url="https://api.openai.com/v1"), "responses"),
        (replace(DEFAULT, preset="openai", model="m", base_url="https://a.org/v1", wire="responses"), "responses"),
        (replace(DEFAULT, preset="deepseek", wire="responses"), "responses"),
    ):
        found = endpoint(llm)
        assert found is not None
        assert found[0] == wire


def test_fields_of_the_person_s_own_are_an_object() -> None:
    llm = replace(DEFAULT, preset="anthropic")
    assert place(replace(llm, extra='{"temperature": 0.6}')).fields == {"temperature": 0.6}
    for wrong in ("temperature: 0.6", "[1]", "3"):
        with pytest.raises(ConfigError, match=r"llm\.extra"):
            endpoint(replace(llm, extra=wrong))


def test_the_window_is_the_setting_s_else_the_table_s_else_a_careful_guess() -> None:
    assert place(replace(DEFAULT, preset="anthropic")).model.window == 200_000
    assert place(replace(DEFAULT, preset="anthropic", window=9_000)).model.window == 9_000
    assert place(replace(DEFAULT, preset="anthropic", window=1_000_000), "fast").model.window == 200_000
    assert place(replace(DEFAULT, model="unheard-of")).model.window == 128_000
    assert place(replace(DEFAULT, model="m", base_url="http://192.168.1.7:8000/v1")).model.window == 32_768


@pytest.mark.parametrize(
    ("preset", "name"),
    [
        ("anthropic", "claude-haiku-5-5"),
        ("anthropic", "claude-opus-9-1"),
        ("openai", "gpt-6.2"),
        ("openai", "gpt-6.1-terra"),
        ("deepseek", "deepseek-v7"),
        ("openrouter", "somebody/something-new"),
    ],
)
def test_models_newer_than_every_table_have_the_window_of_a_company_s_model(preset: str, name: str) -> None:
    model = place(replace(DEFAULT, preset=preset, model=name)).model
    assert model.window >= 128_000
    assert model.max_output - model.thinking >= 16_000


def test_an_answer_leaves_room_for_the_question() -> None:
    assert place(replace(DEFAULT, model="m", window=2_000)).model.max_output == 1_000
    assert place(replace(DEFAULT, model="claude-3-5-haiku", max_output=100_000)).model.max_output == 8_192


def test_the_longest_name_that_fits_is_the_model_s() -> None:
    models = {"gpt-5": KnownModel(max_output=5), "gpt-5-mini": KnownModel(max_output=6)}
    found = {
        name: known_model(name, "http://127.0.0.1/v1", models)
        for name in ("gpt-5-mini-2025", "openai/GPT-5", "gpt-5.1", "gpt-55", "gpt-5:free")
    }
    assert {name: each.max_output for name, each in found.items()} == {
        "gpt-5-mini-2025": 6,
        "openai/GPT-5": 5,
        "gpt-5.1": 0,
        "gpt-55": 0,
        "gpt-5:free": 5,
    }


def test_presets_of_providers_that_are_paid_in_dollars_have_a_price() -> None:
    for name in ("openai", "anthropic", "deepseek"):
        preset = model_table().presets[name]
        for model in (preset.main, preset.fast):
            known = price(model)
            assert known is not None
            cached, fresh, answer = (cost(known, each) for each in (CACHED, FRESH, ANSWER))
            assert 0 < cached < fresh < answer
    assert price("a-model-of-my-own") is None
    assert price("claude-sonnet-5-5", "http://127.0.0.1:4000/v1") is not None
    assert price("qwen3:8b", "http://127.0.0.1:11434/v1") is None


def test_no_table_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was made")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert price("gpt-6.1-terra") is not None


def test_the_table_holds_no_surprises() -> None:
    for name, each in model_table().models.items():
        assert name == name.lower()
        assert each.window >= 8_192 or each.max_output
        if isinstance(each.price, Price):
            assert 0 < each.price.cached <= each.price.input < each.price.output, name
