"""The companion: its menu as values, and the icon itself on a screen without a monitor."""

import os
import plistlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from agent.clock import SystemClock
from agent.config.directories import directories
from agent.config.load import load_settings
from agent.config.node_settings import load_node_token
from agent.interfaces.node import autostart
from agent.interfaces.node.companion import Companion, MenuRow
from agent.interfaces.node.tray import Hotkey
from agent.texts import Language
from tests.interfaces.node.screens import need, screen
from tests.platform.systems import a_mac

__all__ = ["screen"]


@pytest.fixture
def companion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Companion]:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    made = companion_of("en")
    yield made
    made.stop()


def companion_of(language: Language, opened: list[str] | None = None, port: int = 0) -> Companion:
    return Companion(directories(), port, language, SystemClock(), (opened if opened is not None else []).append)


def find(rows: tuple[MenuRow, ...], label: str) -> MenuRow:
    return next(row for each in rows for row in (each, *each.rows) if row.label.startswith(label))


def press(companion: Companion, label: str) -> None:
    act = find(companion.rows(), label).act
    assert act is not None, f"{label} does nothing"
    act()


def answers(companion: Companion) -> list[str]:
    """The names of the tools that the host of the companion offers."""
    assert companion.host is not None
    token = load_node_token(companion.settings, companion.places)
    headers = {"Authorization": f"Bearer {token}"}
    found = httpx.get(f"{companion.host.address}/api/v1/tools", headers=headers, trust_env=False).json()
    return [each["name"] for each in found["tools"]]


def test_the_host_is_started_and_stopped(companion: Companion) -> None:
    assert companion.status() == "The node host is stopped"
    press(companion, "Start")
    assert companion.status().startswith("The node host answers at http://127.0.0.1:") and len(answers(companion)) == 8
    press(companion, "Stop")
    assert companion.status() == "The node host is stopped"
    press(companion, "Start")
    assert len(answers(companion)) == 8


def test_a_tool_is_switched_off_and_the_host_begins_anew(companion: Companion) -> None:
    companion.start()
    assert find(companion.rows(), "system_run").checked
    press(companion, "system_run")
    assert find(companion.rows(), "system_run").checked is False
    assert "system_run" not in answers(companion)
    assert load_settings().settings.node.tools.system_run is False


def test_the_agent_gets_it_when_it_is_ticked(companion: Companion) -> None:
    assert find(companion.rows(), "Let the agent").checked is False
    press(companion, "Let the agent")
    assert load_settings().settings.node.enabled


def test_a_port_that_is_taken_is_said(companion: Companion) -> None:
    companion.start()
    assert companion.host is not None
    other = companion_of("zh", port=companion.host.port)
    other.start()
    assert not other.is_running
    assert other.status().startswith("节点主机不能在端口")
    assert find(other.rows(), "启动").act


def test_the_page_that_asks_is_opened(companion: Companion, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    press(companion_of("en", opened), "Ask…")
    monkeypatch.setenv("VAULT_AGENT_NODE__DASHBOARD", "http://127.0.0.1:9/page")
    press(companion_of("en", opened), "Ask…")
    assert opened == [f"http://127.0.0.1:{load_settings().settings.http.port}/", "http://127.0.0.1:9/page"]
    assert find(companion.rows("ctrl+alt+space"), "Ask… (ctrl+alt+space)").act


def test_it_starts_with_the_desktop_if_that_is_wanted(companion: Companion, tmp_path: Path) -> None:
    press(companion, "Start with the desktop")
    assert find(companion.rows(), "Start with the desktop").checked
    entry = (tmp_path / ".config/autostart/vault-agent-node.desktop").read_text()
    assert f'Exec="{sys.executable}" "-m" "agent" "node" "--tray"\n' in entry
    press(companion, "Start with the desktop")
    assert not autostart.autostart_file().exists()


def test_on_a_mac_it_starts_as_an_agent(companion: Companion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_mac(monkeypatch)
    autostart.switch(True)
    found = plistlib.loads((tmp_path / "Library/LaunchAgents/vault-agent-node.plist").read_bytes())
    assert found["ProgramArguments"] == [sys.executable, "-m", "agent", "node", "--tray"] and found["RunAtLoad"]


def test_permissions_say_what_helps(companion: Companion) -> None:
    rows = find(companion.rows(), "Permissions").rows
    assert [row.label for row in rows if row.label.startswith("Folders")] == ["Folders: not available"]
    assert any("vault-agent config set node.folders" in row.label for row in rows)


def until(true: Callable[[], bool], what: str) -> None:
    for _ in range(200):
        if true():
            return
        SystemClock().sleep(0.05)
    raise AssertionError(what)


def xdotool(*words: str) -> None:
    subprocess.run(["xdotool", *words], check=True)


@pytest.mark.skipif(find_spec("Xlib") is None, reason="python-xlib is not installed")
def test_keys_open_the_page_from_anywhere(screen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need("xdotool")
    monkeypatch.setenv("DISPLAY", screen)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    pressed: list[int] = []
    keys, second = (Hotkey("ctrl+alt+space", partial(pressed.append, number)) for number in (1, 2))
    keys.start()
    second.start()
    assert keys.works and not second.works, "one program has the keys"
    xdotool("key", "ctrl+alt+space")
    until(lambda: pressed == [1], "the keys do nothing")
    keys.stop()
    second.stop()
    for wrong in ("", "ctrl+nokey", "hyper+a"):
        none = Hotkey(wrong, pressed.clear)
        none.start()
        assert not none.works


def windows(environ: dict[str, str], kind: str) -> list[tuple[int, ...]]:
    """Width, height and place of the windows of a kind."""
    listed = subprocess.run(["xwininfo", "-root", "-tree"], env=environ, capture_output=True, text=True).stdout
    rows = [line for line in listed.splitlines() if kind in line]
    found = [re.search(r"(\d+)x(\d+)\+-?\d+\+-?\d+ +\+(\d+)\+(\d+)", row) for row in rows]
    return [tuple(map(int, each.groups())) for each in found if each]


@pytest.mark.chaos  # a tray, a pointer and an icon that moves: seconds of waiting
def test_the_icon_is_clicked(screen: str, tmp_path: Path) -> None:
    need("xdotool", "trayer", "xwininfo")
    for library in ("pystray", "tkinter"):
        if find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    environ = {**os.environ, "DISPLAY": screen, "VAULT_AGENT_HOME": str(tmp_path), "PYSTRAY_BACKEND": "xorg"}
    environ.pop("WAYLAND_DISPLAY", None)
    log = tmp_path / "log"
    with log.open("w") as out:
        tray = subprocess.Popen(["trayer", "--edge", "top", "--align", "right"], env=environ, stdout=out, stderr=out)
        command = [sys.executable, "-m", "agent", "node", "--tray", "--port", "0"]
        icon = subprocess.Popen(command, env=environ, stdout=out, stderr=out)

    def click(place: tuple[int, int]) -> None:
        moves = ["xdotool", "mousemove", *map(str, place), "sleep", "0.2", "click", "1"]
        subprocess.run(moves, env=environ, check=True)

    def opened() -> bool:
        """True once a click on the icon, which moves when the tray takes it in, has opened the menu."""
        for _, _, left, top in windows(environ, "SystemTrayIcon"):
            click((left + 5, top + 5))
            SystemClock().sleep(1)
        return bool(windows(environ, '"!menu'))

    try:
        until((tmp_path / "config/keys/node").exists, f"the host was not started: {log.read_text()}")
        until(opened, f"no menu: {log.read_text()}")
        _, height, left, top = windows(environ, '"!menu')[0]
        click((left + 20, top + height - 8))  # the last row: Quit
        assert icon.wait(60) == 0
    finally:
        icon.kill()
        icon.wait()
        tray.kill()
        tray.wait()
    assert "rror" not in log.read_text()
