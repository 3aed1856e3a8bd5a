"""Turns for a server whose model's template knows only a user and an assistant, in turns.

Templates of open models differ: some refuse a system message, results of tools, several calls in one answer, or the ids
of other servers. In plain turns, the system message begins the first user turn, and calls and results are text.
"""

import re
from collections.abc import Iterable

from agent.llm.fields import items, mapping
from agent.llm.messages import JsonObject

REFUSED = re.compile(
    r"roles? must alternate|system role not supported|unexpected message role|single tool-calls? at once"
    r"|tool call ids should be|only user.{0,20}assistant.{0,20}roles are supported",
    re.IGNORECASE,
)
"""What a server says after its template has refused the turns of a request."""


def plain_turns(turns: Iterable[JsonObject]) -> list[JsonObject]:
    """The same turns as text of a user and an assistant, the user first and last; neighbours are joined."""
    plain: list[JsonObject] = []
    for turn in turns:
        role, content = _plain(turn)
        if plain and plain[-1]["role"] == role:
            plain[-1] = {"role": role, "content": f"{plain[-1]['content']}\n\n{content}"}
        else:
            plain.append({"role": role, "content": content})
    return plain


def _plain(turn: JsonObject) -> tuple[str, str]:
    content = str(turn["content"])
    if turn["role"] == "tool":
        return "user", f"[result of a tool]\n{content}"
    if turn["role"] != "assistant":
        return "user", content
    asked = (mapping(mapping(call).get("function")) for call in items(turn.get("tool_calls")))
    calls = [f"[call of the tool {function['name']} {function['arguments']}]" for function in asked]
    return "assistant", "\n".join(filter(None, [content, *calls]))
