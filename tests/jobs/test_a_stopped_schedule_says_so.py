"""A schedule that is stopped says so wherever its person looks, can be started from there, and belongs to one vault."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.config.directories import directories, process_clock
from agent.errors import ConfigError, UserError
from agent.interfaces.mcp.late_tools import list_inbox
from agent.runs.wake_times import set_active_days, switch_schedule
from agent.tools.tool import RunContext
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import Workspace
from tests.interfaces.http.doors import OpenHouse, open_house
from tests.jobs.town import Town, found, job
from tests.stories.agents import NOTES, document, settings, tell
from tests.vaults import make_vault, write

P = "/api/proactive"
STOPPED = "the schedule of this vault is stopped: no job and no task begins"
START = "vault-agent jobs start"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, dict[str, str]]:
    """Two vaults on one machine, and its environment."""
    own = settings(tmp_path)
    for key, value in own.items():
        monkeypatch.setenv(key, value)
    made = [make_vault(tmp_path / name, {**NOTES, "jobs/tea.md": job()}).place.root for name in ("one", "other")]
    return made[0], made[1], own


def test_the_command_line_says_it_everywhere_and_touches_no_other_vault(
    machine: tuple[Path, Path, dict[str, str]],
) -> None:
    one, other, own = machine
    assert START in tell(one, own, "jobs", "stop")
    assert f"{STOPPED}; {START}" in tell(one, own, "status") and STOPPED in tell(one, own, "jobs")
    assert STOPPED in tell(one, own, "jobs", "add", "every day at 9 brief me", "--yes")
    assert START in tell(one, own, "doctor")
    assert not document(one, own, "status")["schedule"]["enabled"] and not document(one, own, "jobs")["enabled"]

    assert STOPPED not in tell(other, own, "status") + tell(other, own, "jobs")
    assert document(other, own, "status")["schedule"]["enabled"] and document(other, own, "jobs")["enabled"]

    tell(one, own, "jobs", "start")
    assert STOPPED not in tell(one, own, "status") and document(one, own, "jobs")["enabled"]


def test_a_setting_of_the_schedule_is_of_the_vault_in_which_it_is_set(
    machine: tuple[Path, Path, dict[str, str]], tmp_path: Path
) -> None:
    one, other, own = machine
    tell(one, own, "config", "set", "schedule.active_days", "0-4")
    first = document(one, own, "config", "get", "schedule.active_days")
    assert (first["value"], first["origin"]) == ("0-4", "this vault")
    assert document(other, own, "config", "get", "schedule.active_days")["origin"] == "default"
    assert not directories().settings_file.exists()
    tell(one, own, "config", "unset", "schedule.active_days")
    assert document(one, own, "config", "get", "schedule.active_days")["origin"] == "default"

    tell(one, own, "config", "set", "git.quiet_seconds", "7")
    assert document(other, own, "config", "get", "git.quiet_seconds")["origin"] == "machine"


def test_what_holds_for_all_vaults_is_said_and_one_can_be_started(
    machine: tuple[Path, Path, dict[str, str]],
) -> None:
    one, other, own = machine
    write(directories().settings_file, "schedule:\n  enabled: false\n")
    assert STOPPED in tell(one, own, "status") and STOPPED in tell(other, own, "status")
    tell(one, own, "jobs", "start")
    assert STOPPED not in tell(one, own, "status") and STOPPED in tell(other, own, "status")


def test_a_variable_that_stops_it_is_named(machine: tuple[Path, Path, dict[str, str]]) -> None:
    one, _, own = machine
    stopped = own | {"VAULT_AGENT_SCHEDULE__ENABLED": "false"}
    assert "change or unset the variable VAULT_AGENT_SCHEDULE__ENABLED" in tell(one, stopped, "status")
    tell(one, stopped, "jobs", "start", code=2)


@pytest.fixture
def workspaces(machine: tuple[Path, Path, dict[str, str]]) -> tuple[Workspace, Workspace]:
    one, other, _ = machine
    return open_workspace(one, clock=process_clock()), open_workspace(other, clock=process_clock())


def test_the_switch_and_the_days_of_one_vault_are_not_those_of_another(
    workspaces: tuple[Workspace, Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = workspaces
    before = schedule_switch(other)
    switch_schedule(one, False)
    set_active_days(one, (4, 1, 1))
    assert (schedule_switch(one).enabled, schedule_switch(one).days) == (False, (1, 4))
    assert schedule_switch(other) == before and before.enabled
    assert open_workspace(one.vault.place.root).settings.schedule.enabled is False
    monkeypatch.setenv("VAULT_AGENT_SCHEDULE__ENABLED", "false")
    with pytest.raises(UserError, match="VAULT_AGENT_SCHEDULE__ENABLED"):
        switch_schedule(one, True)


def test_a_setting_of_all_vaults_in_the_file_of_one_is_an_error_with_its_line(
    workspaces: tuple[Workspace, Workspace],
) -> None:
    one, _ = workspaces
    path = one.directories.settings_of(one.vault.id)
    write(path, "schedule:\n  enabled: true\ngit:\n  durable: false\n")
    with pytest.raises(ConfigError, match=rf"{path}:4: git.durable: this is no setting of one vault"):
        open_workspace(one.vault.place.root)


def test_another_program_is_told_among_what_waits(workspaces: tuple[Workspace, Workspace]) -> None:
    one, other = workspaces
    switch_schedule(one, False)
    assert list_inbox(one, {}, RunContext("", "")).text.startswith(STOPPED)
    assert STOPPED not in list_inbox(other, {}, RunContext("", "")).text


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    return found(tmp_path, monkeypatch.setenv, tea=job())


def test_a_daemon_that_runs_stops_and_starts(town: Town) -> None:
    with town.daemon() as house:
        house.step()
        switch_schedule(town.workspace, False)
        town.clock.pass_by(minutes=2)
        for _ in range(3):
            house.step()
        assert town.outcomes("tea") == []
        switch_schedule(town.workspace, True)
        town.clock.pass_by(days=1)
        house.until(lambda: "done" in town.outcomes("tea"), "the job has run")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("house"), {**NOTES, "jobs/tea.md": job()}) as house:
        yield house


def test_the_api_says_it_where_it_says_what_waits(house: OpenHouse) -> None:
    assert house.get("/api/v1/approvals")["stopped"] is None
    house.send("POST", f"{P}/stop")
    assert STOPPED in house.get("/api/v1/approvals")["stopped"]
    assert house.get("/api/v1/jobs")["enabled"] is False and house.get(f"{P}/status")["running"] is False
    assert not house.workspace.directories.settings_file.exists()
    house.send("POST", f"{P}/start")
    assert house.get("/api/v1/approvals")["stopped"] is None and house.get("/api/v1/jobs")["enabled"] is True
