"""The completion script, in a real shell where there is one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent.interfaces.cli.commands import usual
from agent.interfaces.cli.main import main


@pytest.mark.parametrize(
    ("shell", "has"), [("bash", "complete -o"), ("zsh", "compdef"), ("fish", "complete --no-files")]
)
def test_a_script_for_each_shell(shell: str, has: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert has in out and "_VAULT_AGENT_COMPLETE" in out


def test_other_shells_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "csh"]) == 2
    assert "bash" in capsys.readouterr().err


@pytest.fixture
def bash(tmp_path: Path) -> Path:
    found = shutil.which("bash")
    if found is None:
        pytest.skip("there is no bash here")
    program = tmp_path / "bin" / "vault-agent"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m agent "$@"\n', "utf-8")
    program.chmod(0o755)
    return program.parent


def complete(folder: Path, *words: str) -> list[str]:
    script = (
        'eval "$(vault-agent completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
        'COMP_LINE="$*"; _vault_agent_completion vault-agent; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", "vault-agent", *words],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_options_and_settings(bash: Path) -> None:
    assert complete(bash, "") == [*usual()]
    assert complete(bash, "co") == ["config"]
    assert complete(bash, "comp") == ["completion"]
    assert complete(bash, "jobs", "ta") == ["tasks"]
    assert complete(bash, "--ve") == ["--version"]
    assert complete(bash, "config", "") == ["get", "list", "set", "unset"]
    assert complete(bash, "config", "get", "git.q") == ["git.quiet_seconds"]
    assert complete(bash, "completion", "z") == ["zsh"]
