"""The defaults' file and the dataclasses name the same settings, and every setting explains itself."""

import ast
import inspect
from pathlib import Path

from agent.config import settings
from agent.config.file import parse_settings
from agent.config.load import load_settings
from agent.config.resources import resource
from agent.config.settings import Settings, keys, sections, setting_type
from agent.config.values import build


def test_every_setting_has_a_default_and_every_default_a_setting() -> None:
    text = (resource("configs") / "defaults.yaml").read_text("utf-8")
    assert tuple(parse_settings(text, "defaults.yaml").entries) == keys()


def test_no_default_stands_in_the_code() -> None:
    tree = ast.parse(inspect.getsource(settings))
    assigned = [
        node.target.id
        for holder in ast.walk(tree)
        if isinstance(holder, ast.ClassDef)
        for node in holder.body
        if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name)
    ]
    assert assigned == []


def test_every_setting_says_what_it_is_and_why_its_default() -> None:
    files = sorted(Path(settings.__file__).parent.glob("*settings.py"))
    body = [node for file in files for node in ast.parse(file.read_text("utf-8")).body]
    for holder in (node for node in body if isinstance(node, ast.ClassDef) and node.name != "Settings"):
        lines = holder.body
        for field, after in zip(lines, lines[1:], strict=False):
            if isinstance(field, ast.AnnAssign):
                assert isinstance(after, ast.Expr), f"{holder.name}.{ast.unparse(field.target)} has no docstring"
                assert "efault" in ast.unparse(after) or "same" in ast.unparse(after)


def test_settings_are_built_from_their_own_values() -> None:
    values = dict(load_settings(environ={"VAULT_AGENT_HOME": "/nowhere"}).values)
    assert build(Settings, values).git.lock_seconds == values["git.lock_seconds"]


def test_sections_are_not_settings() -> None:
    assert {"vault", "llm", "llm.fast", "channels", "channels.webhook"} <= sections()
    assert not sections() & set(keys())
    assert str(setting_type("git.human_commits").expects) == "auto or off"
