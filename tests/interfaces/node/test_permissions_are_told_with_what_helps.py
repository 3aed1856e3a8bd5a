"""The permissions of this machine, as far as a program can know them."""

import os
from pathlib import Path

import pytest

from agent.interfaces.node.folders import Folders
from agent.interfaces.node.permissions import NAMES, permissions
from tests.platform.systems import a_mac

NONE: dict[str, str] = {}


def test_without_a_screen_nothing_on_it_is_possible(tmp_path: Path) -> None:
    found = permissions(Folders(()), {"XDG_RUNTIME_DIR": str(tmp_path)})
    assert tuple(found) == NAMES
    assert found["screen_recording"].state == found["accessibility"].state == "restricted"
    assert "desktop" in found["screen_recording"].guidance
    assert found["full_disk_access"].state == "restricted" and "node.folders" in found["full_disk_access"].guidance


def test_a_screen_and_a_sound_server_are_enough(tmp_path: Path) -> None:
    (tmp_path / "pipewire-0").touch()
    found = permissions(Folders.named(str(tmp_path)), {"DISPLAY": ":0", "XDG_RUNTIME_DIR": str(tmp_path)})
    assert {each.state for each in found.values()} == {"granted"}
    assert not any(each.guidance for each in found.values())


def test_a_folder_that_cannot_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shut").mkdir()
    (tmp_path / "open").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "shut")
    shut = permissions(Folders.named(f"{tmp_path}/shut"), NONE)["full_disk_access"]
    assert shut.state == "denied" and f"{tmp_path}/shut cannot be read" in shut.guidance
    both = permissions(Folders.named(f"{tmp_path}/shut:{tmp_path}/open"), NONE)["full_disk_access"]
    assert both.state == "granted" and "cannot be read" in both.guidance


@pytest.mark.parametrize(("answer", "state"), [(True, "granted"), (False, "denied"), (None, "unknown")])
def test_a_mac_is_asked_without_a_dialogue(
    answer: bool | None, state: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    a_mac(monkeypatch, answer)
    found = permissions(Folders.named(str(tmp_path)), NONE)
    assert found["screen_recording"].state == found["accessibility"].state == state
    assert bool(found["accessibility"].guidance) == (state != "granted")
    assert found["microphone"].state == "unknown" and "first recording" in found["microphone"].guidance
