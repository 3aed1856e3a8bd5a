"""`system_run`, `open_app` and `clipboard`: commands, applications, and what was copied."""

import re
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from agent.interfaces.node.programs import PackagedProgram, need
from agent.interfaces.node.session import bad_arguments, is_mac, need_screen, session_kind
from agent.interfaces.node.tool import Desk, NodeResult, NodeTool
from agent.llm.messages import JsonObject
from agent.tools.arguments import number, schema, text

MOST_SECONDS = 120
_DEFAULT_SECONDS = 30
_SHORT = 10.0
_ADDRESS = re.compile(r"(?:https?|mailto):[^\s\x00-\x1f]{1,4000}", re.IGNORECASE)
_APPLICATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,100}")
_OPEN = PackagedProgram("xdg-open", "xdg-utils")
_COPY = {
    "mac": (PackagedProgram("pbcopy", "macOS"),),
    "wayland": (PackagedProgram("wl-copy", "wl-clipboard"),),
    "x": (PackagedProgram("xclip", "xclip"),),
    "none": (PackagedProgram("xclip", "xclip"),),
}
_PASTE = {
    "pbcopy": ["pbpaste"],
    "wl-copy": ["wl-paste", "--no-newline"],
    "xclip": ["xclip", "-selection", "clipboard", "-out"],
}
_FILL = {"pbcopy": ["pbcopy"], "wl-copy": ["wl-copy"], "xclip": ["xclip", "-selection", "clipboard", "-in"]}


def desktop_tools() -> tuple[NodeTool, ...]:
    """The tools for commands, applications and the clipboard."""
    run = schema(
        "command",
        command={"type": "string", "minLength": 1, "maxLength": 20_000, "description": "a line for /bin/sh"},
        folder={"type": "string", "maxLength": 4096, "description": "where it runs; default the home folder"},
        seconds={"type": "integer", "minimum": 1, "maximum": MOST_SECONDS, "default": _DEFAULT_SECONDS},
    )
    start = schema(
        "target",
        target={
            "type": "string",
            "minLength": 1,
            "maxLength": 4096,
            "description": "an application's name, a file's whole path, or an address with https://",
        },
    )
    clip = schema(
        "action",
        action={"enum": ["read", "write"]},
        text={"type": "string", "maxLength": 1_000_000, "description": "what to put there; for write"},
    )
    return (
        NodeTool(
            "system_run",
            f"Run a command of the shell on the person's machine, {MOST_SECONDS} seconds at most. What it leaves in "
            "the background is ended with it.",
            run,
            _run,
        ),
        NodeTool(
            "open_app", "Open an application, a file or a web page on the person's screen.", start, _open, _openers
        ),
        NodeTool("clipboard", "Read the clipboard of the person's desktop, or set it.", clip, _clip, _clip_programs),
    )


def _run(call: JsonObject, desk: Desk) -> NodeResult:
    folder = Path(text(call, "folder", "~")).expanduser()
    if not folder.is_absolute() or not folder.is_dir():
        raise bad_arguments(f"{text(call, 'folder')} is no folder", "give the whole path of one")
    command = text(call, "command")
    if "\0" in command:
        raise bad_arguments("the command has a NUL in it")
    ran = desk.runner.run(["/bin/sh", "-c", command], float(number(call, "seconds", _DEFAULT_SECONDS)), folder)
    return NodeResult(f"exit code {ran.code}\n{ran.output}")


def _openers() -> Sequence[PackagedProgram]:
    return (PackagedProgram("open", "macOS"),) if is_mac() else (_OPEN,)


def _open(call: JsonObject, desk: Desk) -> NodeResult:
    target = text(call, "target").strip()
    path = Path(target).expanduser()
    is_place = _ADDRESS.fullmatch(target) or (path.is_absolute() and path.exists())
    if not is_place and not _APPLICATION.fullmatch(target):
        raise bad_arguments(f"{target!r} is no application, no file that exists, and no address with https://")
    need_screen("")
    place = target if _ADDRESS.fullmatch(target) else str(path)
    if is_mac():
        command = ["open", place] if is_place else ["open", "-a", target]
    elif is_place:
        command = [need((_OPEN,)), place]
    elif which(target):
        command = [target]
    elif which("gtk-launch"):
        command = ["gtk-launch", target]
    else:
        raise bad_arguments(f"there is no application {target} on this machine")
    desk.runner.leave(command, 2.0)
    return NodeResult(f"{target} is opened")


def _clip_programs() -> Sequence[PackagedProgram]:
    return _COPY[session_kind()]


def _clip(call: JsonObject, desk: Desk) -> NodeResult:
    writes, words = text(call, "action") == "write", text(call, "text")
    if writes and not words:
        raise bad_arguments("text is missing: what the clipboard is to hold")
    name = need(_COPY[need_screen("")])
    if writes:
        desk.runner.feed(_FILL[name], words.encode(), _SHORT)
        return NodeResult(f"the clipboard holds {len(words):,} characters")
    ran = desk.runner.run(_PASTE[name], _SHORT)
    return NodeResult("(the clipboard is empty)" if ran.code else ran.output)
