"""What an editor is told of this program, which it is before the library of the protocol is loaded."""

import json
from functools import cache
from typing import Any

from agent.interfaces.first_message import NAME, first_line, put_back, version, write
from agent.json_value import parse_json

NEWEST = 1
"""The newest version of the protocol that is spoken here."""
_CAN: dict[str, object] = {
    "loadSession": True,
    "promptCapabilities": {"embeddedContext": True, "image": True},
    "sessionCapabilities": {"close": {}, "list": {}, "resume": {}},
}


def about(wanted: int) -> dict[str, Any]:
    """Who we are and what we can do, for an editor that speaks up to this version of the protocol."""
    info = {"name": NAME, "title": NAME, "version": version()}
    return {"protocolVersion": min(wanted, NEWEST) or NEWEST, "agentCapabilities": _CAN, "agentInfo": info}


def answer_to(line: bytes) -> bytes | None:
    """The answer to a first message; None for one that does not begin a connection."""
    try:
        asked = parse_json(line)
        id, method, wanted = asked["id"], asked["method"], asked["params"]["protocolVersion"]
    except (ValueError, LookupError, TypeError):
        return None
    if method != "initialize" or not isinstance(id, int | str) or type(wanted) is not int or wanted < 0:
        return None
    answer = {"jsonrpc": "2.0", "id": id, "result": about(wanted)}
    return json.dumps(answer, separators=(",", ":")).encode() + b"\n"


@cache
def greet() -> None:
    """Answer the first message on standard input, if it begins a connection: nobody else hears it then. Any other can
    be read again."""
    line = first_line()
    answer = answer_to(line)
    if answer is not None:
        write(1, answer)
    elif line:
        put_back(line)
