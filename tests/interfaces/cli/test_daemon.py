"""`daemon` refuses to start where it must not, and says what would help."""

import socket
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.cli.language import row
from agent.interfaces.cli.main import main
from agent.interfaces.cli.status_page import _format_work
from agent.workspace.workspace import daemon_lock
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


def test_a_port_that_is_taken_is_said_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["daemon", str(tmp_path / "new"), "--init", "--yes", "--http", "--port", port]) == 2
        assert "already in use" in capsys.readouterr().err and not (tmp_path / "new").exists()
        assert main(["init", "--yes", str(tmp_path / "chinese"), "--language", "zh"]) == 0
        capsys.readouterr()
        assert main(["daemon", str(tmp_path / "chinese"), "--http", "--port", port]) == 2
    told = capsys.readouterr().err
    assert f"端口 {port} 打不开：已被别的程序占用" in told and "正在翻看" not in told


def test_init_needs_to_know_the_folder(run: Run) -> None:
    assert run("daemon", "--init", code=2)["ok"] is False


def test_work_that_waits_several_times_is_named_once() -> None:
    work = {"running": ["maintenance"], "waiting": ["maintenance", "inbox", "maintenance"]}
    assert _format_work(work) == [row("works", "maintenance; waits: maintenance ×2, inbox")]
