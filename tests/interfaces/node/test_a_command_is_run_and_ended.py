"""`system_run`: its output, its limits, and what it must not leave behind or see."""

import os
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.interfaces.node.app import NodeCall
from tests.interfaces.node.desk import Office, office

__all__ = ["office"]


@pytest.fixture(autouse=True)
def path(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.defpath)


def test_it_begins_in_the_home_folder_or_the_one_that_is_named(office: Office, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    assert office.says("system_run", command="pwd") == f"exit code 0\n{tmp_path}"
    assert office.says("system_run", command="pwd", folder="~/inner") == f"exit code 0\n{tmp_path}/inner"
    assert office.fails("system_run", command="pwd", folder="inner")[0] == "bad_arguments"


def test_it_does_not_see_the_keys_of_the_host(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-123456789")
    monkeypatch.setenv("VAULT_AGENT_HOME", "/secret/home")
    said = office.says("system_run", command="env")
    assert "sk-ant" not in said and "/secret/home" not in said and "HOME=" in said


def test_what_it_leaves_in_the_background_ends_with_it(office: Office, tmp_path: Path) -> None:
    office.says("system_run", command=f"(sleep 60; echo late > {tmp_path}/late) & echo $! > {tmp_path}/pid")
    child = int((tmp_path / "pid").read_text())
    for _ in range(100):
        state = Path(f"/proc/{child}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            break
        SystemClock().sleep(0.05)
    else:
        raise AssertionError("it lives on")


def test_a_long_output_keeps_its_beginning_and_its_end(office: Office) -> None:
    said = office.says("system_run", command="seq 1 100000")
    assert "\n1\n2\n" in said and said.endswith("99999\n100000") and "bytes left out" in said


def test_a_host_that_stops_ends_its_programs(office: Office) -> None:
    app = office.app(stopped=lambda: True)
    answer = app.answer(app.tools["system_run"], NodeCall("c", {"command": "sleep 60"}))
    assert answer.document["code"] == "host_stopped"
