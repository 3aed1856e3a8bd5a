"""`screen_capture` and `audio_record`: a picture of the screen and a recording of the microphone, as files.

The files stay on this machine, in the host's own folder, readable by their owner only; the newest `KEPT` are kept.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agent.config.private import FILE, own_folder
from agent.interfaces.node.programs import PackagedProgram, need
from agent.interfaces.node.session import did_not_work, is_mac, need_screen, session_kind
from agent.interfaces.node.tool import Desk, Made, NodeResult, NodeTool
from agent.llm.messages import JsonObject
from agent.tools.arguments import number, schema

KEPT = 100
MOST_SECONDS = 300
_SCREEN_SECONDS = 20.0
_GRIM = PackagedProgram("grim", "grim")
_SCREEN = {
    "mac": (PackagedProgram("screencapture", "macOS"),),
    "wayland": (_GRIM,),
    "x": (PackagedProgram("import", "imagemagick"), PackagedProgram("scrot", "scrot")),
    "none": (_GRIM, PackagedProgram("scrot", "scrot")),
}
_SOUND = (PackagedProgram("arecord", "alsa-utils"), PackagedProgram("ffmpeg", "ffmpeg"))


def capture_tools() -> tuple[NodeTool, ...]:
    """The tools for pictures and recordings."""
    seconds: JsonObject = {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_SECONDS,
        "default": 10,
        "description": f"how long, at most {MOST_SECONDS}",
    }
    return (
        NodeTool(
            "screen_capture",
            "Take a picture of the whole screen. Gives the path of a PNG on the person's machine.",
            schema(),
            _capture,
            _screen_programs,
            "screen_recording",
        ),
        NodeTool(
            "audio_record",
            "Record from the microphone. Gives the path of a WAV on the person's machine.",
            schema(seconds=seconds),
            _record,
            _sound_programs,
            "microphone",
        ),
    )


def _screen_programs() -> Sequence[PackagedProgram]:
    return _SCREEN[session_kind()]


def _sound_programs() -> Sequence[PackagedProgram]:
    return _SOUND[1:] if is_mac() else _SOUND


def _capture(call: JsonObject, desk: Desk) -> NodeResult:
    kind = need_screen("screen_recording")
    name = need(_SCREEN[kind])
    path = _fresh(desk, "screen", "png")
    commands = {
        "screencapture": ["screencapture", "-x", str(path)],
        "grim": ["grim", str(path)],
        "import": ["import", "-silent", "-window", "root", f"png:{path}"],
        "scrot": ["scrot", "--silent", "--overwrite", str(path)],
    }
    desk.runner.work(commands[name], _SCREEN_SECONDS)
    return _made(path, "image/png", "the screen")


def _record(call: JsonObject, desk: Desk) -> NodeResult:
    seconds = number(call, "seconds", 10)
    name = need(_sound_programs())
    path = _fresh(desk, "sound", "wav")
    source = ["-f", "avfoundation", "-i", ":default"] if is_mac() else ["-f", "alsa", "-i", "default"]
    commands = {
        "arecord": ["arecord", "-q", "-f", "cd", "-t", "wav", "-d", str(seconds), str(path)],
        "ffmpeg": ["ffmpeg", "-nostdin", "-v", "error", "-y", *source, "-t", str(seconds), str(path)],
    }
    desk.runner.work(commands[name], seconds + _SCREEN_SECONDS)
    return _made(path, "audio/wav", f"{seconds} s of sound")


def _fresh(desk: Desk, kind: str, ending: str) -> Path:
    """The path for a new file; the oldest files above `KEPT` are deleted."""
    own_folder(desk.captures)
    for old in sorted(desk.captures.glob("*-*.*"), key=lambda each: each.name)[: -KEPT + 1]:
        with suppress(OSError):
            old.unlink()
    clock = desk.runner.clock
    return desk.captures / f"{clock.now():%Y%m%d-%H%M%S}-{clock.new_id()[-6:].lower()}-{kind}.{ending}"


def _made(path: Path, media_type: str, what: str) -> NodeResult:
    try:
        path.chmod(FILE)
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise did_not_work("the program ended well and wrote no file") from error
    return NodeResult(f"{what} is in {path} ({size:,} bytes)", (Made(str(path), media_type, size),))
