"""Each tool for real, with the programs of this machine on a screen of its own (Xvfb); skips what is not installed."""

import shutil
import wave
from pathlib import Path

import pytest

from agent.clock import SystemClock
from tests.interfaces.node.desk import Office
from tests.interfaces.node.screens import need, screen

__all__ = ["screen"]


@pytest.fixture
def office(tmp_path: Path, screen: str, monkeypatch: pytest.MonkeyPatch) -> Office:
    monkeypatch.setenv("DISPLAY", screen)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return Office(tmp_path)


@pytest.mark.parametrize("program", ["import", "scrot"])
def test_a_picture_is_taken(office: Office, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(program)
    office.programs.mkdir()
    (office.programs / program).symlink_to(str(shutil.which(program)))
    monkeypatch.setenv("PATH", str(office.programs))
    made = office.ask("screen_capture").document["files"]
    assert isinstance(made, list)
    data = Path(made[0]["path"]).read_bytes()
    assert data.startswith(b"\x89PNG") and data[16:24] == (640).to_bytes(4) + (480).to_bytes(4)


def test_the_clipboard_is_set_and_read(office: Office) -> None:
    need("xclip")
    assert office.says("clipboard", action="write", text="Grüße 你好\n") == "the clipboard holds 9 characters"
    assert office.says("clipboard", action="read").strip() == "Grüße 你好"


def test_the_pointer_moves_and_words_are_typed(office: Office, tmp_path: Path) -> None:
    need("xdotool", "xterm")
    office.says("ui_automation", action="move", x=11, y=22)
    office.says("ui_automation", action="move", x=11, y=22)
    assert "x:11 y:22" in office.says("system_run", command="xdotool getmouselocation")
    assert office.says("open_app", target="xterm") == "xterm is opened"
    office.says("ui_automation", action="click", x=100, y=100)
    office.says("ui_automation", action="type", text=f"echo $((6*7)) > {tmp_path}/typed; exit")
    office.says("ui_automation", action="key", keys="Return")
    for _ in range(100):
        if (tmp_path / "typed").exists():
            break
        SystemClock().sleep(0.05)
    assert (tmp_path / "typed").read_text() == "42\n"


@pytest.mark.parametrize("program", ["arecord", "ffmpeg"])
def test_a_recording_is_made(office: Office, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The microphone is one that hears nothing: ALSA's own `null`."""
    need(program)
    (tmp_path / "asound.conf").write_text("pcm.!default { type null }\nctl.!default { type null }\n")
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(tmp_path / "asound.conf"))
    office.programs.mkdir()
    (office.programs / program).symlink_to(str(shutil.which(program)))
    monkeypatch.setenv("PATH", str(office.programs))
    answer = office.ask("audio_record", seconds=1)
    assert answer.status == 200, answer.document
    made = answer.document["files"]
    assert isinstance(made, list)
    with wave.open(made[0]["path"]) as sound:
        assert sound.getnframes() >= sound.getframerate() * 0.9
