"""`daemon` refuses to start where it must not, and says what would help."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.cli.main import main
from agent.workspace.daemon_lock import daemon_lock
from tests.interfaces.cli.conftest import Run


def test_the_second_one_is_told_to_try_again(run: Run, root: Path) -> None:
    with daemon_lock(open_workspace(root)):
        error = run("daemon", code=75)["error"]
    assert isinstance(error, dict) and "a daemon already" in error["message"]


def test_it_says_that_it_watches_only_when_it_does(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with daemon_lock(open_workspace(root)):
        assert main(["--vault", str(root), "daemon"]) == 75
    assert "watching" not in capsys.readouterr().err


def test_a_folder_that_is_no_vault_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    error = run("daemon", str(tmp_path / "plain"), code=2)["error"]
    assert isinstance(error, dict) and error["type"] == "NotAVault"
    assert list((tmp_path / "plain").iterdir()) == []


def test_init_needs_to_know_the_folder(run: Run) -> None:
    assert run("daemon", "--init", code=2)["ok"] is False
