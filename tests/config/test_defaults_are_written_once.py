"""The defaults' file and the dataclasses name the same settings, and every setting explains itself."""

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent.config import settings
from agent.config.file import parse_settings
from agent.config.load import load_settings
from agent.config.resources import resource
from agent.config.secrets import Secret, secrets_in
from agent.config.settings import SECTIONS, keys, sections, setting_type
from agent.config.values import build
from agent.config.vault_settings import GitSettings


def test_every_setting_has_a_default_and_every_default_a_setting() -> None:
    text = (resource("configs") / "defaults.yaml").read_text("utf-8")
    assert tuple(parse_settings(text, "defaults.yaml").entries) == keys()


def test_no_default_stands_in_the_code() -> None:
    assigned = [
        node.target.id
        for holder in _dataclasses()
        for node in holder.body
        if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name)
    ]
    assert assigned == []


def test_every_setting_says_what_it_is_and_why_its_default() -> None:
    for holder in _dataclasses():
        lines = holder.body
        for field, after in zip(lines, lines[1:], strict=False):
            if isinstance(field, ast.AnnAssign):
                assert isinstance(after, ast.Expr), f"{holder.name}.{ast.unparse(field.target)} has no docstring"
                assert "efault" in ast.unparse(after) or "same" in ast.unparse(after)


def _dataclasses() -> list[ast.ClassDef]:
    """The sections, as they are written."""
    files = sorted(Path(settings.__file__).parent.glob("*_settings.py"))
    nodes = [node for file in files for node in ast.parse(file.read_text("utf-8")).body]
    return [node for node in nodes if isinstance(node, ast.ClassDef)]


def test_settings_are_built_from_their_own_values() -> None:
    values = dict(load_settings(environ={"VAULT_AGENT_HOME": "/nowhere"}).values)
    assert build(GitSettings, values, "git.").lock_seconds == values["git.lock_seconds"]


def test_every_default_is_a_value_that_its_setting_takes_and_none_is_a_secret() -> None:
    loaded = load_settings(environ={"VAULT_AGENT_HOME": "/nowhere"})
    assert len(dict(loaded.values)) == len(keys())
    assert not any(each.reference for each in secrets_in(getattr(loaded.settings, name) for name in SECTIONS))


def test_a_section_is_loaded_when_it_is_asked_for() -> None:
    code = (
        "import sys; from agent.config.load import load_settings;"
        "loaded = load_settings(environ={'VAULT_AGENT_HOME': '/nowhere', 'VAULT_AGENT_LLM__WINDOW': '1000'});"
        "loaded.settings.git; loaded.settings.secrets;"
        "print(*sorted(each for each in sys.modules if each.endswith('_settings') or each == 'yaml'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["agent.config.run_settings", "agent.config.vault_settings"]


def test_other_sections_take_the_place_of_some() -> None:
    loaded = load_settings(environ={"VAULT_AGENT_HOME": "/nowhere"}).settings
    key = Secret("env:KEY")
    other = loaded.with_sections(llm=replace(loaded.llm, api_key=key), brake=replace(loaded.brake, notes=1))
    again = other.with_sections(brake=replace(loaded.brake, notes=2))
    assert (again.llm.api_key, again.brake.notes, again.secrets) == (key, 2, (key,))
    assert (other.brake.notes, loaded.brake.notes, loaded.secrets) == (1, 20, ())
    with pytest.raises(TypeError, match="brakes"):
        loaded.with_sections(brakes=loaded.brake)


def test_sections_are_not_settings() -> None:
    assert {"vault", "llm", "llm.fast", "channels", "channels.webhook"} <= sections()
    assert not sections() & set(keys())
    assert str(setting_type("git.human_commits").expects) == "auto or off"
