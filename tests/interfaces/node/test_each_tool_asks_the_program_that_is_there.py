"""The command lines of the tools, on each kind of desktop, with programs that only write down how they were called."""

from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.node.desk import Office, office
from tests.platform.systems import a_mac

__all__ = ["office"]
POINT = {"x": 3, "y": 4}
LINES: list[tuple[str, str, dict[str, Any], str, list[list[str]]]] = [
    ("x", "screen_capture", {}, "import", [["import", "-silent", "-window", "root", "FILE", ""]]),
    ("x", "screen_capture", {}, "scrot", [["scrot", "--silent", "--overwrite", "FILE", ""]]),
    ("wayland", "screen_capture", {}, "grim", [["grim", "FILE", ""]]),
    ("mac", "screen_capture", {}, "screencapture", [["screencapture", "-x", "FILE", ""]]),
    (
        *("x", "audio_record", {"seconds": 2}, "arecord"),
        [["arecord", "-q", "-f", "cd", "-t", "wav", "-d", "2", "FILE", ""]],
    ),
    (
        *("x", "audio_record", {"seconds": 2}, "ffmpeg"),
        [["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "alsa", "-i", "default", "-t", "2", "FILE", ""]],
    ),
    (
        *("mac", "audio_record", {"seconds": 2}, "ffmpeg"),
        [["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "avfoundation", "-i", ":default", "-t", "2", "FILE", ""]],
    ),
    (
        *("x", "ui_automation", {"action": "type", "text": "-a b"}, "xdotool"),
        [["xdotool", "type", "--clearmodifiers", "--delay", "5", "--", "-a b", ""]],
    ),
    (
        *("x", "ui_automation", {"action": "click", "button": "right", **POINT}, "xdotool"),
        [["xdotool", "mousemove", "3", "4", ""], ["xdotool", "click", "3", ""]],
    ),
    (
        *("wayland", "ui_automation", {"action": "key", "keys": "ctrl+T"}, "ydotool"),
        [["ydotool", "key", "29:1", "20:1", "20:0", "29:0", ""]],
    ),
    (
        *("wayland", "ui_automation", {"action": "click", **POINT}, "ydotool"),
        [["ydotool", "mousemove", "--absolute", "-x", "3", "-y", "4", ""], ["ydotool", "click", "0xC0", ""]],
    ),
    (
        *("mac", "ui_automation", {"action": "key", "keys": "cmd+shift+t"}, "osascript"),
        [
            [
                *("osascript", "-e"),
                'tell application "System Events" to keystroke "t" using {command down, shift down}',
                "",
            ]
        ],
    ),
    ("x", "clipboard", {"action": "read"}, "xclip", [["xclip", "-selection", "clipboard", "-out", ""]]),
    ("x", "clipboard", {"action": "write", "text": "é"}, "xclip", [["xclip", "-selection", "clipboard", "-in", "é"]]),
    ("wayland", "clipboard", {"action": "write", "text": "é"}, "wl-copy", [["wl-copy", "é"]]),
    ("mac", "clipboard", {"action": "write", "text": "é"}, "pbcopy", [["pbcopy", "é"]]),
    ("x", "open_app", {"target": "https://example.org/a?b"}, "xdg-open", [["xdg-open", "https://example.org/a?b", ""]]),
    ("mac", "open_app", {"target": "Music"}, "open", [["open", "-a", "Music", ""]]),
]


@pytest.mark.parametrize(("desktop", "tool", "arguments", "program", "expected"), LINES)
def test_a_tool_calls_its_program(
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
    desktop: str,
    tool: str,
    arguments: dict[str, Any],
    program: str,
    expected: list[list[str]],
) -> None:
    if desktop == "wayland":
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    if desktop == "mac":
        a_mac(monkeypatch)
    office.install(program)
    answer = office.ask(tool, **arguments)
    if desktop == "wayland" and tool == "ui_automation" and answer.status == 403:
        pytest.skip("/dev/uinput cannot be written here")
    assert answer.status == 200, answer.document
    files = answer.document["files"]
    assert isinstance(files, list)
    made = files[0]["path"] if files else ""
    shown = [["FILE" if made and made in word else word for word in line] for line in office.called()]
    assert shown == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "package"),
    [
        ("screen_capture", {}, "imagemagick / scrot"),
        ("audio_record", {}, "alsa-utils / ffmpeg"),
        ("ui_automation", {"action": "type", "text": "x"}, "xdotool"),
        ("clipboard", {"action": "read"}, "xclip"),
        ("open_app", {"target": "https://example.org"}, "xdg-utils"),
    ],
)
def test_what_is_missing_says_its_package(office: Office, tool: str, arguments: dict[str, Any], package: str) -> None:
    assert office.fails(tool, **arguments) == ("program_missing", f"install the package {package}")
    assert office.app().needs()[tool] == f"install the package {package}"


def test_without_a_screen_nothing_is_tried(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY")
    office.install("import", "xdotool", "xclip", "xdg-open")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("screen_capture", {}),
        ("ui_automation", {"action": "type", "text": "x"}),
        ("clipboard", {"action": "read"}),
        ("open_app", {"target": "https://example.org"}),
    ]
    for tool, arguments in asked:
        code, hint = office.fails(tool, **arguments)
        assert code == "permission_denied" and "desktop" in hint
    assert office.called() == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "type"},
        {"action": "key", "keys": "ctrl c"},
        {"action": "key", "keys": "--window"},
        {"action": "key", "keys": 'a"b'},
        {"action": "move", "x": 1},
        {"action": "move"},
        {"action": "click", "x": -1, "y": 1},
        {"action": "scroll"},
    ],
)
def test_what_cannot_be_pressed_is_refused(office: Office, arguments: dict[str, Any]) -> None:
    office.install("xdotool")
    assert office.fails("ui_automation", **arguments)[0] == "bad_arguments"
    assert office.called() == []


@pytest.mark.parametrize("target", ["-n", "--help", "file:///etc/passwd", "javascript:x", "sh -c id;", "/nothing", " "])
def test_only_applications_files_and_addresses_are_opened(office: Office, target: str) -> None:
    office.install("xdg-open", "gtk-launch", "sh")
    assert office.fails("open_app", target=target)[0] == "bad_arguments"
    assert office.called() == []


def test_a_program_that_fails_is_told_with_its_words(office: Office) -> None:
    office.install("import", prints="cannot open display", code=3)
    answer = office.ask("screen_capture")
    assert answer.status == 502
    assert answer.document["detail"] == "import ended with 3: cannot open display"


def test_pictures_are_private_and_the_oldest_go(office: Office, tmp_path: Path) -> None:
    office.install("import")
    captures = tmp_path / "state/node/captures"
    captures.mkdir(parents=True)
    for number in range(120):
        (captures / f"20200101-{number:06d}-screen.png").write_bytes(b"old")
    made = office.ask("screen_capture").document["files"]
    assert isinstance(made, list)
    assert Path(made[0]["path"]).stat().st_mode & 0o777 == 0o600
    assert captures.stat().st_mode & 0o777 == 0o700
    assert len(list(captures.iterdir())) == 100
