"""`ui_automation`: types, presses keys, moves the pointer and clicks, as a person would.

On macOS, typing and keys go through System Events, the pointer through `cliclick`; on Linux through xdotool, or ydotool
(1.0 or later) under Wayland.
"""

import re
from collections.abc import Sequence

from agent.interfaces.node.programs import PackagedProgram, need
from agent.interfaces.node.session import bad_arguments, need_screen, session_kind
from agent.interfaces.node.tool import Desk, NodeResult, NodeTool
from agent.llm.messages import JsonObject
from agent.tools.arguments import number, schema, text

_SECONDS = 30.0
_PROGRAMS = {
    "mac": (PackagedProgram("osascript", "macOS"),),
    "wayland": (PackagedProgram("ydotool", "ydotool"),),
    "x": (PackagedProgram("xdotool", "xdotool"),),
    "none": (PackagedProgram("xdotool", "xdotool"),),
}
_CLICKER = PackagedProgram("cliclick", "cliclick (brew)")
_KEYS = re.compile(r"[A-Za-z0-9_]{1,20}(?:\+[A-Za-z0-9_]{1,20}){0,4}")
_BUTTONS = {"left": 1, "middle": 2, "right": 3}
_MAC_MODIFIERS = {"ctrl": "control", "control": "control", "alt": "option", "shift": "shift", "super": "command"}
_MAC_MODIFIERS |= {"cmd": "command", "command": "command", "option": "option"}
_MAC_KEYS = {"return": 36, "tab": 48, "space": 49, "backspace": 51, "escape": 53, "left": 123, "right": 124}
_MAC_KEYS |= {"down": 125, "up": 126, "home": 115, "end": 119, "delete": 117}
_YDO_BUTTONS = {"left": "0xC0", "right": "0xC1", "middle": "0xC2"}
_ROWS = ((2, "1234567890"), (16, "qwertyuiop"), (30, "asdfghjkl"), (44, "zxcvbnm"))
_CODES = {"escape": 1, "backspace": 14, "tab": 15, "return": 28, "ctrl": 29, "shift": 42, "alt": 56, "space": 57}
_CODES |= {f"f{number}": 58 + number for number in range(1, 11)}
_CODES |= {"home": 102, "up": 103, "left": 105, "right": 106, "end": 107, "down": 108, "delete": 111, "super": 125}
_TYPE = 'on run argv\ntell application "System Events" to keystroke (item 1 of argv)\nend run'


def pointing_tools() -> tuple[NodeTool, ...]:
    """The tool for keys and the pointer."""
    place: JsonObject = {"type": "integer", "minimum": 0, "maximum": 100_000}
    parameters = schema(
        "action",
        action={"enum": ["type", "key", "move", "click"]},
        text={"type": "string", "maxLength": 10_000, "description": "for type"},
        keys={"type": "string", "description": "for key: such as Return or ctrl+shift+t"},
        x=place,
        y=place,
        button={"enum": list(_BUTTONS), "description": "for click; default left"},
    )
    words = (
        "Work on the person's screen: type text, press keys, move the pointer or click at a point, in pixels from the "
        "top left."
    )
    return (NodeTool("ui_automation", words, parameters, _automate, _programs, "accessibility"),)


def _programs() -> Sequence[PackagedProgram]:
    return _PROGRAMS[session_kind()]


def _automate(call: JsonObject, desk: Desk) -> NodeResult:
    action = text(call, "action")
    wanted = {"type": ("text",), "key": ("keys",), "move": ("x", "y"), "click": ()}[action]
    for name in wanted:
        if call.get(name) in (None, ""):
            raise bad_arguments(f"{name} is missing: {action} needs it")
    if ("x" in call) != ("y" in call):
        raise bad_arguments("a point has both x and y")
    if action == "key" and not _KEYS.fullmatch(text(call, "keys")):
        raise bad_arguments(f"{text(call, 'keys')!r} are no keys", "names with + between them, such as ctrl+c")
    kind = need_screen("accessibility")
    need(_PROGRAMS[kind])
    commands = {"mac": _mac, "wayland": _ydotool}.get(kind, _xdotool)(call, action)
    for command in commands:
        desk.runner.work(command, _SECONDS)
    return NodeResult({"type": "typed", "key": "pressed", "move": "moved", "click": "clicked"}[action])


def _point(call: JsonObject) -> tuple[str, str] | None:
    return (str(number(call, "x", 0)), str(number(call, "y", 0))) if "x" in call else None


def _xdotool(call: JsonObject, action: str) -> list[list[str]]:
    match action:
        case "type":
            return [["xdotool", "type", "--clearmodifiers", "--delay", "5", "--", text(call, "text")]]
        case "key":
            return [["xdotool", "key", "--clearmodifiers", "--", text(call, "keys")]]
    moves = [["xdotool", "mousemove", *point]] if (point := _point(call)) else []
    return moves if action == "move" else [*moves, ["xdotool", "click", str(_BUTTONS[text(call, "button", "left")])]]


def _ydotool(call: JsonObject, action: str) -> list[list[str]]:
    match action:
        case "type":
            return [["ydotool", "type", "--", text(call, "text")]]
        case "key":
            codes = [_key_code(each) for each in text(call, "keys").split("+")]
            return [["ydotool", "key", *(f"{code}:1" for code in codes), *(f"{code}:0" for code in reversed(codes))]]
    point = _point(call)
    moves = [["ydotool", "mousemove", "--absolute", "-x", point[0], "-y", point[1]]] if point else []
    return moves if action == "move" else [*moves, ["ydotool", "click", _YDO_BUTTONS[text(call, "button", "left")]]]


def _key_code(name: str) -> int:
    """The number that Linux has for a key of a keyboard with English letters."""
    known = name.casefold()
    for first, keys in _ROWS:
        if len(known) == 1 and known in keys:
            return first + keys.index(known)
    if known not in _CODES:
        raise bad_arguments(f"there is no key {name}", f"named keys: {', '.join(_CODES)}")
    return _CODES[known]


def _mac(call: JsonObject, action: str) -> list[list[str]]:
    if action == "type":
        return [["osascript", "-e", _TYPE, text(call, "text")]]
    if action == "key":
        return [["osascript", "-e", f'tell application "System Events" to {_keystroke(text(call, "keys"))}']]
    need((_CLICKER,))
    at = ",".join(_point(call) or (".",))
    button = {"left": "c", "right": "rc"}.get(text(call, "button", "left"))
    if button is None:
        raise bad_arguments("only the left and the right button can be clicked on macOS")
    return [["cliclick", f"{'m' if action == 'move' else button}:{at}"]]


def _keystroke(keys: str) -> str:
    """What System Events is asked for; `keys` are letters, digits, `_` and `+` only."""
    *before, last = keys.split("+")
    unknown = next((each for each in before if each.casefold() not in _MAC_MODIFIERS), "")
    if unknown or (len(last) > 1 and last.casefold() not in _MAC_KEYS):
        raise bad_arguments(f"there is no key {unknown or last}", f"named keys: {', '.join(_MAC_KEYS)}")
    held = ", ".join(f"{_MAC_MODIFIERS[each.casefold()]} down" for each in before)
    pressed = f"key code {_MAC_KEYS[last.casefold()]}" if len(last) > 1 else f'keystroke "{last}"'
    return f"{pressed} using {{{held}}}" if held else pressed
