"""Where the machine's files live, and where the data that ships with the code is."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from platformdirs import PlatformDirs

from agent.clock import SystemClock
from agent.config.directories import directories
from agent.config.logs import report_from
from agent.config.resources import Name, _first_folder, resource
from agent.errors import Permanent


def test_one_variable_moves_everything(tmp_path: Path) -> None:
    found = directories({"VAULT_AGENT_HOME": str(tmp_path)})
    assert {found.config.parent, found.cache.parent, found.state.parent} == {tmp_path}
    assert len({found.config, found.cache, found.state}) == 3
    assert list(tmp_path.iterdir()) == []


def test_the_platform_s_folders_are_absolute_and_ours() -> None:
    found = directories({})
    assert all(path.is_absolute() and "vault-agent" in path.parts for path in (found.config, found.cache, found.state))


def test_no_test_writes_where_a_person_has_settings_and_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    found, ours = directories({}), tmp_path_factory.getbasetemp()
    assert all(path.is_relative_to(ours) for path in (found.config, found.cache, found.state))


@pytest.mark.parametrize("home", ["/home/ada", "/home/ada/", "/", "", "somewhere"])
@pytest.mark.parametrize("given", [None, "", "/x/y", "/x/y/", "relative/z"])
def test_they_are_those_of_the_library(home: str, given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False) if given is None else monkeypatch.setenv(name, given)
    found, library = directories({}), PlatformDirs("vault-agent", appauthor=False)
    assert (found.config, found.cache, found.state) == (
        library.user_config_path,
        library.user_cache_path,
        library.user_state_path,
    )


def test_a_relative_home_is_taken_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert directories({"VAULT_AGENT_HOME": "here"}).state == tmp_path / "here" / "state"


@pytest.mark.parametrize("name", ["vault_template", "skills", "configs", "hooks"])
def test_what_ships_beside_the_code_is_found(name: Name) -> None:
    assert resource(name).is_dir()


def test_an_installed_package_looks_into_itself_first(tmp_path: Path) -> None:
    inside, beside = tmp_path / "inside", tmp_path / "beside"
    beside.mkdir()
    assert _first_folder("configs", inside, beside) == beside
    inside.mkdir()
    assert _first_folder("configs", inside, beside) == inside


def test_an_incomplete_installation_says_so(tmp_path: Path) -> None:
    with pytest.raises(Permanent, match="skills is neither at") as caught:
        _first_folder("skills", tmp_path / "a", tmp_path / "b")
    assert caught.value.hint == "install vault-agent again"


@pytest.fixture
def quiet_logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger("agent")
    before = (logger.level, logger.propagate, list(logger.handlers))
    yield logger
    logger.setLevel(before[0])
    logger.propagate, logger.handlers[:] = before[1], before[2]


def test_messages_below_the_level_are_not_shown(
    quiet_logger: logging.Logger, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    quiet_logger.handlers.clear()
    report_from("warning", tmp_path, SystemClock())
    report_from("warning", tmp_path, SystemClock())
    quiet_logger.getChild("vault").info("small")
    quiet_logger.getChild("vault").warning("big")
    assert capsys.readouterr().err == "WARNING agent.vault: big\n"
