"""The command class of GitPython comes alone, and the package stays whole for whoever else wants it."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import UserError
from agent.git.runner import Git
from tests.vaults import make_vault


def _run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


def test_a_command_loads_no_object_model() -> None:
    assert "git.cmd" not in _run("import sys, agent.workspace.workspace\nprint(*sys.modules)").split()
    loaded = _run("import sys, agent.git.running\nprint(*sys.modules)").split()
    assert "git.cmd" in loaded
    assert not {"git", "git.repo", "gitdb.pack"} & set(loaded)


def test_the_whole_package_can_still_be_imported_afterwards(tmp_path: Path) -> None:
    root = make_vault(tmp_path).place.root
    program = f"""
from agent.git.running import Git
import git, gitdb
print(git.Git is Git, len(git.Repo({str(root)!r}).head.commit.hexsha), gitdb.LooseObjectDB.__name__)
"""
    assert _run(program) == "True 40 LooseObjectDB"


def test_the_whole_package_is_used_where_it_is_loaded_already() -> None:
    assert _run("import git\nfrom agent.git.running import Git\nprint(git.Git is Git)") == "True"


def test_a_machine_without_git_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="git is not installed"):
        Git(tmp_path / ".git", tmp_path).run("version")
