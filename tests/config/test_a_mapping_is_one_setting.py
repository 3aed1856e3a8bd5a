"""`llm.extra` is a mapping in a file and JSON everywhere else."""

import json
from pathlib import Path

import pytest

from agent.config.load import load_settings
from agent.errors import ConfigError


def extra_in(tmp_path: Path, lines: str) -> object:
    file = tmp_path / "config" / "config.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(lines, "utf-8")
    written = load_settings(environ={"VAULT_AGENT_HOME": str(tmp_path)}).settings.llm.extra
    return json.loads(written) if written else None


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        ("llm:\n  extra:\n    temperature: 0.6\n    user: anna\n", {"temperature": 0.6, "user": "anna"}),
        (
            "llm:\n  extra:\n    chat_template_kwargs:\n      enable_thinking: false\n      style: x\n    seed: 7\n",
            {"chat_template_kwargs": {"enable_thinking": False, "style": "x"}, "seed": 7},
        ),
        ("llm:\n  extra: {temperature: 1}\n", {"temperature": 1}),
        ('llm:\n  extra: \'{"stop": ["a"]}\'\n', {"stop": ["a"]}),
        ("llm:\n  extra: {}\n", None),
        ("llm:\n  model: m\n", None),
    ],
)
def test_a_mapping_in_a_file_is_read_whole(tmp_path: Path, lines: str, meant: object) -> None:
    assert extra_in(tmp_path, lines) == meant


def test_a_list_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="extra.stop is a list") as caught:
        extra_in(tmp_path, "llm:\n  extra:\n    stop: [a, b]\n")
    assert "JSON" in caught.value.hint


def test_the_environment_has_it_as_json() -> None:
    environ = {"VAULT_AGENT_HOME": "/nowhere", "VAULT_AGENT_LLM__EXTRA": '{"a": 1}'}
    assert load_settings(environ=environ).settings.llm.extra == '{"a": 1}'
