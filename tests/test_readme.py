"""The README says what is true, in 150 lines: its two commands, and the first steps. The Chinese one says the same."""

import io
import json
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
CHINESE = (ROOT / ".github/README.zh.md").read_text("utf-8")
BESIDE = ("agent/README.md", "tests/trust/README.md", "tests/bench/README.md", ".github/README.zh.md")
"""What the README links to."""
MOST_LINES = 150


def commands() -> list[str]:
    """The one-line shell blocks of the README's section "Two commands"."""
    section = README.split("\n## Two commands\n")[1].split("\n## ")[0]
    return [block.strip() for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)]


def table(name: str, page: str) -> list[list[str]]:
    """The rows under the header of the table between a page's `name` marks."""
    marked = re.search(rf"<!-- {name}[^>]*-->\n(.*?)<!-- /{name} -->", page, re.DOTALL)
    assert marked
    rows = [line.strip("|").split("|") for line in marked[1].strip().splitlines()]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_there_are_two_commands_of_one_line_each_and_another_way_for_the_first() -> None:
    assert len(commands()) == 3
    assert not any("\n" in command for command in commands())


def test_the_first_command_sets_up_and_does_the_main_job() -> None:
    quick, plain = (command.split(" && ") for command in commands()[:2])
    assert quick == ["uv tool install .", "vault-agent daemon ~/my-vault --init"]
    assert [step.split()[0] for step in plain] == ["python3", ".venv/bin/pip", ".venv/bin/vault-agent"]
    assert plain[1] == ".venv/bin/pip install .", "it shows its progress"
    assert plain[2] == f".venv/bin/{quick[1]}"


def test_the_last_command_is_what_continuous_integration_runs() -> None:
    script = ROOT / commands()[2]
    assert script == ROOT / "hooks/check"
    assert os.access(script, os.X_OK)
    assert "/../hooks/check" in (ROOT / ".ci/run").read_text("utf-8")


def test_every_promise_has_a_figure_and_a_command() -> None:
    rows = table("promises", (ROOT / "tests/trust/README.md").read_text("utf-8"))
    assert len(rows) == 26
    assert all(len(row) == 3 and all(row) for row in rows)


def typed(page: str) -> list[list[str]]:
    """The program's commands in a page's shell blocks, in words."""
    blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    lines = [shlex.split(line) for block in blocks for line in block.strip().splitlines()]
    return [line for line in lines if line[0] == "vault-agent"]


@pytest.mark.parametrize("words", typed(README), ids=" ".join)
def test_every_command_can_be_typed(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs_in_an_empty_folder(words, tmp_path, monkeypatch, capsys)


def runs_in_an_empty_folder(
    words: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It reaches its own checks: the program knows the words, whatever it then says of this empty folder."""
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("what-is-typed\n"))
    main(["--vault", str(tmp_path), "--json", *words[1:]])
    found = json.loads(capsys.readouterr().out)
    assert words[0] == "vault-agent"
    asks_first = words[1] in ("init", "daemon") and "--yes" in found.get("error", {}).get("hint", "")
    assert found["ok"] or found["error"]["type"] == "NotAVault" or asks_first, found


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES and len(CHINESE.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", ("README.md", *BESIDE))
def test_links_to_files_lead_somewhere(name: str) -> None:
    page = ROOT / name
    links = [link for link in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("name", ("README.md", *BESIDE))
def test_it_speaks_of_no_place_of_ours(name: str) -> None:
    assert re.findall(r"/work/|/root/|localhost", (ROOT / name).read_text("utf-8")) == []


def test_the_chinese_page_is_in_step() -> None:
    """The same sections, commands (in other words where they are a person's), settings, and numbers of points."""
    assert [len(level) for level in re.findall(r"^(#+) ", README, re.MULTILINE)] == [
        len(level) for level in re.findall(r"^(#+) ", CHINESE, re.MULTILINE)
    ]
    assert [shape(words) for words in typed(README)] == [shape(words) for words in typed(CHINESE)]
    assert commands() == [block.strip() for block in re.findall(r"```sh\n(.*?)```", CHINESE, re.DOTALL)][:3]
    assert len(re.findall("^- ", README, re.MULTILINE)) == len(re.findall("^- ", CHINESE, re.MULTILINE))


def shape(words: list[str]) -> list[str]:
    """A command without what a person says in it."""
    return ["…" if " " in word or not word.isascii() else word for word in words]


def test_both_languages_lead_to_the_same_pages() -> None:
    english = re.findall(r"agent/docs/en/(\w+)\.md", README)
    assert english and english == re.findall(r"agent/docs/zh/(\w+)\.md", CHINESE)
