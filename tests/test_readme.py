"""The README says what is true: its two commands, and the same commands as the program's own help."""

import json
import os
import re
import shlex
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest

from agent.config.load import load_settings
from agent.interfaces.cli.main import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def commands() -> list[str]:
    """The one-line shell blocks of the README's section "Two commands"."""
    section = README.split("\n## Two commands\n")[1].split("\n## ")[0]
    return [block.strip() for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)]


def table(name: str) -> list[list[str]]:
    """The rows under the header of the table between the README's `name` marks."""
    marked = re.search(rf"<!-- {name}[^>]*-->\n(.*?)<!-- /{name} -->", README, re.DOTALL)
    assert marked
    rows = [line.strip("|").split("|") for line in marked[1].strip().splitlines()]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_there_are_two_commands_of_one_line_each() -> None:
    assert len(commands()) == 2
    assert not any("\n" in command for command in commands())


def test_the_first_command_sets_up_and_does_the_main_job() -> None:
    steps = commands()[0].split(" && ")
    assert [step.split()[0] for step in steps] == ["python3", ".venv/bin/pip", ".venv/bin/vault-agent"]
    assert steps[1] == ".venv/bin/pip install -q ."
    assert steps[2].split()[1] == "daemon" and steps[2].endswith(" --init")


def test_the_second_command_is_what_continuous_integration_runs() -> None:
    script = ROOT / commands()[1]
    assert script == ROOT / "hooks/check"
    assert os.access(script, os.X_OK)
    assert "/../hooks/check" in (ROOT / ".ci/run").read_text("utf-8")


def test_the_picture_is_drawn_in_text() -> None:
    assert "one git commit per change" in README.split("## Two commands")[0]


def test_the_commands_are_those_of_the_help() -> None:
    env = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    run = [sys.executable, "-m", "agent", "--help"]
    helped = subprocess.run(run, env=env, cwd=ROOT, text=True, capture_output=True, check=True).stdout
    listed = re.findall(r"^  ([a-z-]+)  +(\S.*)$", helped.split("\nCommands:\n")[1], re.MULTILINE)
    assert table("commands") == [[f"`{name}`", line.strip()] for name, line in listed]


def test_every_promise_has_a_figure_and_a_command() -> None:
    rows = table("promises")
    assert len(rows) == 17
    assert all(len(row) == 3 and all(row) for row in rows)


def agent_lines() -> list[list[str]]:
    """The commands of the README's section "The agent", in words."""
    section = README.split("\n## The agent\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    lines = [shlex.split(line) for block in blocks for line in block.strip().splitlines()]
    return [line for line in lines if line[0] != "export"]


@pytest.mark.parametrize("words", agent_lines(), ids=" ".join)
def test_every_command_about_the_agent_can_be_typed(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It reaches its own checks: the program knows the words, whatever it then says of this empty folder."""
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    main(["--vault", str(tmp_path), "--json", *words[1:]])
    found = json.loads(capsys.readouterr().out)
    assert words[0] == "vault-agent"
    assert found["ok"] or found["error"]["type"] == "NotAVault", found


def test_the_limits_of_runs_are_the_defaults() -> None:
    settings = load_settings(None, environ={"VAULT_AGENT_HOME": "/nowhere"}).settings
    stated = {name.strip("`"): float(value) for name, _, value in table("limits of runs")}
    real = {key: attrgetter(key)(settings) for key in stated}
    assert stated == real


def test_links_to_files_lead_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_it_speaks_of_no_place_of_ours() -> None:
    assert re.findall(r"/work/|/root/|localhost", README) == []
