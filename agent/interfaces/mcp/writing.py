"""`write` as a call of one of the agent's tools: which way is meant, and whether the version is the current one.

A program replaces only what it has read: it gives the base that it read, or has read those lines through this server.
"""

from agent.errors import ToolRetry
from agent.llm.messages import JsonObject
from agent.tools import arguments
from agent.tools.builtin.vault import find_section
from agent.tools.note_access import check_readable
from agent.tools.shown_notes import version_of
from agent.tools.tool import RunContext
from agent.vault.store import Vault

_SHORTEST = 6
_WAYS = "give content, or old and new, or append"


def as_note_call(vault: Vault, call: JsonObject, context: RunContext) -> tuple[str, JsonObject]:
    """The tool and its arguments; raises `ToolRetry` with what to do, and what reading the note raises."""
    path, heading = arguments.text(call, "path"), arguments.text(call, "heading")
    ways = [name for name in ("content", "append") if name in call]
    ways += ["old and new"] if "old" in call or "new" in call else []
    if len(ways) != 1:
        raise ToolRetry(f"{_WAYS}: one of them" + (f", not {' and '.join(ways)}" if ways else ""))
    data = vault.read(check_readable(path))
    if "base" in call:
        _check_base(path, data, arguments.text(call, "base"), context)
    if "append" in call:
        more: JsonObject = {"heading": heading} if heading else {}
        return "vault_append", {"path": path, "text": arguments.text(call, "append"), **more}
    if "content" not in call:
        if heading or not ("old" in call and "new" in call):
            raise ToolRetry("to replace a piece of text give old and new, and no heading")
        return "vault_edit", {"path": path, "old": arguments.text(call, "old"), "new": arguments.text(call, "new")}
    content = arguments.text(call, "content")
    if heading:
        return "vault_edit", _section_call(path, data, heading, content, context)
    if data is not None and not context.shown.is_whole(path, data) and data != content.encode():
        raise ToolRetry(
            f"{path} exists: read it, then write with the base that read gives; or change a part with old and new, "
            "or append"
        )
    return "vault_write", {"path": path, "content": content}


def _check_base(path: str, data: bytes | None, base: str, context: RunContext) -> None:
    """Note that the program knows the version `data`, if `base` names it; raises `ToolRetry` otherwise."""
    if data is None:
        raise ToolRetry(f"there is no note {path} any more; log says what became of it, or write it without base")
    now = version_of(data)
    if len(base) < _SHORTEST or not now.startswith(base[: len(now)].lower()):
        raise ToolRetry(
            f"nothing was written: {path} is at base {now}, not {base}. Read it again, bring your change into what is "
            "there now, and write with the new base"
        )
    context.shown.show(path, data)


def _section_call(path: str, data: bytes | None, heading: str, content: str, context: RunContext) -> JsonObject:
    """The arguments that replace the text of a section, and keep its heading."""
    if data is None:
        raise ToolRetry(f"there is no note {path}: write it without heading")
    section = find_section(data, heading, path)
    if not context.shown.is_shown(path, data, section.lines):
        raise ToolRetry(f"read that section of {path} first: what you have not seen would be lost")
    try:
        rows = data.decode().split("\n")[section.lines[0] - 1 : section.lines[1]]
    except UnicodeDecodeError as error:
        raise ToolRetry(f"{path} is not UTF-8 text and cannot be edited") from error
    while len(rows) > 1 and not rows[-1].strip():
        rows.pop()
    body = content.strip("\n")
    first = body.partition("\n")[0]
    whole = body if " ".join(first.split()) == section.heading else f"{rows[0].rstrip()}\n\n{body}"
    return {"path": path, "old": "\n".join(rows), "new": whole}
