"""`llm.preset` names a program: it is found, metered by calls and tokens without money, and has no address or key."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.config.load import load_settings
from agent.config.run_settings import LlmSettings
from agent.errors import ConfigError
from agent.llm.connection import own_models, try_connection
from agent.llm.model_key import missing_key
from agent.llm.presets import endpoint, price
from tests.fakes import FakeClock
from tests.llm.program.desk import NAMES, Desk, said
from tests.stories.agents import document, settings
from tests.vaults import make_vault


def llm(preset: str, **more: str) -> LlmSettings:
    return replace(load_settings(None).settings.llm, preset=preset, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_it_needs_no_key_and_has_no_price(name: str) -> None:
    found = endpoint(llm(name))
    assert found is not None and found[0] == "program" and found[1].model.window == 128_000
    assert missing_key(llm(name)) is None and not found[1].model.sees
    assert price("claude-sonnet-5-5", f"program://{name}") is None and price("claude-sonnet-5-5") is not None


def test_it_has_no_address() -> None:
    with pytest.raises(ConfigError, match="is a program on this machine"):
        endpoint(llm("codex", base_url="https://api.example.org/v1"))


def test_the_connection_is_tried_without_a_question(at: Desk) -> None:
    at.answers()
    found = try_connection(llm("gemini-cli"), "main", FakeClock())
    assert found is not None and (found.model, found.models) == ("pro", ()) and at.started == []
    assert own_models(llm(""), "codex", FakeClock()) == ()


def test_an_answer_counts_as_a_call_and_costs_no_money(
    at: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at.answers(*said("claude-code", "Green tea."))
    monkeypatch.setenv("PATH", f"{at.bin}:/usr/bin:/bin")
    root = make_vault(tmp_path, {"tea.md": "# Tea\n"}).place.root
    own = {**settings(tmp_path), "VAULT_AGENT_LLM__PRESET": "claude-code", "PATH": f"{at.bin}:/usr/bin:/bin"}
    done = document(root, own, "ask", "What", "of", "tea?")
    assert done["answer"] == "Green tea."
    assert done["spend"]["calls"] == 1 and done["spend"]["money"] == 0
    assert done["spend"]["input_tokens"] == 111
