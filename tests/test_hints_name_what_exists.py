"""Every command, option and setting that a person is told to use exists: in messages, notes and the README."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from agent.config.settings import RENAMED, keys, sections
from agent.interfaces.cli.commands import COMMANDS
from agent.interfaces.cli.loading import load_command
from agent.interfaces.cli.main import cli
from agent.tools.tool_names import TOOL_NAMES
from tests.sources import Source, sources

ROOT = Path(__file__).parent.parent
PLACES = ["agent", "configs", "vault_template", "skills", "hooks", "README.md"]
PROSE = re.compile(
    r"adds|again|command|finds|for|here|holds|in|is|keeps|lists|looks|never|on|records|says|shows|writes"
)
"""Words that follow the program's name, or a command, in a sentence."""
SHARED = {option for parameter in cli.params for option in parameter.opts} | {"--help"}
HEADS = "|".join(sorted(key for key in sections() if "." not in key))
SETTING = re.compile(rf"(?<![\w./{{-])(?:{HEADS})\.[a-z]\w*(?:\.\w+)?(?![\w(/])")
OTHERS = {"llm.fast_model", "vault.transaction", "jobs.base", "log.md", "http.proxy", "http.sslCAInfo"}
"""What looks like a setting and is a former one, code, a file of the vault, or a setting of git."""


@cache
def modules() -> dict[str, Source]:
    return {f"agent/{source.path}": source for source in sources()}


def nodes(path: Path) -> tuple[ast.AST, ...]:
    return modules()[path.relative_to(ROOT).as_posix()].nodes


def strings(path: Path) -> Iterator[str]:
    """The texts in a file: a module's literals, with {} for what is filled in; else its lines."""
    if path.suffix != ".py":
        yield from path.read_text("utf-8").splitlines()
        return
    parts = {id(part) for node in nodes(path) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes(path):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


def files() -> list[Path]:
    found = [
        path for place in PLACES for path in ([ROOT / place] if place.endswith(".md") else (ROOT / place).rglob("*"))
    ]
    kinds = {".py", ".yaml", ".md", ".service", ".plist"}
    return sorted(path for path in found if path.suffix in kinds and "__pycache__" not in path.parts)


def lines_to_type() -> set[tuple[str, str]]:
    """What stands after each `vault-agent`, up to the end of the quotation, the line, or the next one."""
    found = set()
    for path in files():
        for text in strings(path) if "vault-agent" in path.read_text("utf-8") else ():
            for line in re.findall(r"vault-agent (?!…)([^`\n]*?)(?=`|\n|$|vault-agent )", text):
                found.add((line.strip(), path.relative_to(ROOT).as_posix()))
    return found


def problem(line: str) -> str | None:
    """What is wrong with a line that a person is told to type; None if nothing is, or if it is part of a sentence."""
    words = [word.rstrip(".,;:)'\"’。，；：）") for word in line.replace("{}", " {}").split()]
    while words and words[0] in ("--vault", "--json"):
        words = words[2 if words[0] == "--vault" else 1 :]
    if not words or PROSE.fullmatch(words[0]) or not re.fullmatch(r"[a-z]+", words[0]):
        return None
    if words[0] not in COMMANDS:
        return f"there is no command {words[0]}"
    command, rest = load_command(words[0]), words[1:]
    context = click.Context(cli)
    while isinstance(command, click.Group) and rest and (child := command.get_command(context, rest[0])) is not None:
        command, rest = child, rest[1:]
    if (
        isinstance(command, click.Group)
        and not command.invoke_without_command
        and rest
        and not PROSE.fullmatch(rest[0])
    ):
        return f"{command.name} has no command {rest[0]}"
    options = SHARED | {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    strange = [word for word in rest if re.fullmatch(r"--[a-z][a-z-]*", word) and word not in options]
    if strange:
        return f"{command.name} has no option {strange[0]}"
    if words[0] == "config" and command.name in ("get", "set", "unset") and rest:
        key = rest[0]
        if re.fullmatch(r"[a-z][\w.]*", key) and key not in keys():
            return f"there is no setting {key}"
    return None


def test_every_command_that_is_named_can_be_typed() -> None:
    found = lines_to_type()
    assert len(found) > 150
    assert [(line, path, wrong) for line, path in sorted(found) if (wrong := problem(line))] == []


@pytest.mark.parametrize(
    "line",
    [
        "warm fetches it",
        "--vault {} warm",
        "config set index.modle shipped",
        "config put index.model",
        "doctor --mend",
        "skills learn --acept NAME",
    ],
)
def test_what_does_not_exist_is_found(line: str) -> None:
    assert problem(line)


def hints() -> Iterator[tuple[str, str]]:
    """The texts in which a setting is named for a person: hints, next steps, sentences in notes, and the README."""
    for path in files():
        where = path.relative_to(ROOT).as_posix()
        if path.suffix != ".py":
            yield from ((line, where) for line in strings(path) if path.name != "understanding.yaml")
            continue
        for node in nodes(path) if SETTING.search(path.read_text("utf-8")) else ():
            if isinstance(node, ast.keyword) and node.arg in ("hint", "next", "limit", "message"):
                for part in ast.walk(node.value):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.value, where


def test_every_setting_that_is_named_exists() -> None:
    named = {(name, where) for text, where in hints() for name in SETTING.findall(text)}
    assert len(named) > 30
    known = {*keys(), *sections(), *RENAMED, *OTHERS, *TOOL_NAMES}
    assert [each for each in sorted(named) if each[0].rstrip(".") not in known] == []
