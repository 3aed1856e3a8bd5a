"""Keeps untrusted text from controlling the agent: the text is framed for the model, and the run is tainted.

In a tainted run, a call that could send data out, run a program or have an effect after the run needs a person's
approval. The mark of the run is `tool.Taint`; asking for approval is left to `approvals`.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.llm.messages import JsonObject
from agent.texts import Language, text
from agent.tools.note_access import check_writable
from agent.vault.folders import PROFILE, AgentFolder, WriteRule

if TYPE_CHECKING:
    from agent.tools.tool import Draft, RunContext, Tool, ToolOutput

_LETTERS = r"[^\w<>]{0,3}".join(f"[{letter}{chr(ord(letter) + 0xFEE0)}]" for letter in "untrusted")
_TAG = re.compile(rf"[<\uff1c\ufe64](?=[^\w<>]{{0,8}}{_LETTERS})", re.IGNORECASE)
"""The beginning of the `<untrusted>` tag, also in full-width letters, and with invisible characters between the
letters."""
_SHOWN = 3

_IMAGE = re.compile(r"(?=(!\[(?!\[)[^\n]{0,400}))")
_LOCAL_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\((?!/)[^\s<>()&\\:]{1,200}[\s)]")
_LOADS = re.compile(
    r"(?=(<(?:img|iframe|frame|script|object|embed|video|audio|source|link|svg|image|input|style|base|meta)\b[^\n]{0,400}"
    r"|(?<![^\s\"'/])(?:style|background|poster|srcset|src)\s{0,8}=[^\n]{0,400}"
    r"|url\([^\n]{0,400}|@import[^\n]{0,400}|<%[^\n]{0,400}|`\$=[^\n]{0,400}"
    r"|@\{[^\n]{0,200}\bimg\b[^\n]{0,400}|\bimg:[^\n]{0,400}"
    r"|^[ \t\"'-]{0,8}[\w-]{0,20}(?:cover|banner|image|thumb|icon|poster|background)[\w-]{0,20}[\"']?[ \t]{0,8}:"
    r"[^\n]{0,200}//[^\n]{0,200}"
    r"|(?:`{3,}|~{3,})[ \t]{0,8}\{?(?:dataviewjs|js-engine|meta-bind-js|customjs|templater|run-)[^\n]{0,80}))",
    re.IGNORECASE | re.MULTILINE,
)
"""Markup that a Markdown editor fetches or runs when it only shows the note."""
_VIEWS = (".canvas", ".base")
"""Files that show web pages and pictures for any address in them."""


def framed(tool: "Tool") -> "Tool":
    """The tool with untrusted results framed for the model; such a result taints the run."""

    def perform(arguments: JsonObject, context: "RunContext") -> "ToolOutput":
        given = tool.perform(arguments, context)
        if not given.untrusted:
            return given
        context.taint.mark(given.untrusted)
        return replace(given, text=frame(given.text, given.untrusted))

    return replace(tool, perform=perform)


def frame(content: str, source: str) -> str:
    """The text inside a tag that the text itself cannot close."""
    named = " ".join(source.split()).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return f'<untrusted source="{named}">\n{_TAG.sub("&lt;", content)}\n</untrusted>'


def reason_to_ask(
    tool: "Tool", arguments: JsonObject, context: "RunContext", home: AgentFolder, language: Language = "en"
) -> str:
    """The reason why a call needs a person's approval under any policy; empty if it needs none.

    Raises `BadPath` or `ToolRetry` for a note that no tool may change, or not in this run.
    """
    paths = tool.effect.paths(arguments) if tool.effect else ()
    rules = {path: home.write_rule(check_writable(path, home, context.writes)) for path in paths}
    steering = next((path for path, found in rules.items() if found is WriteRule.AFTER_YES), "")
    if steering and not (tool.on_request and context.is_attended):
        return text("taint.steers", language, path=steering)
    unproved = next((path for path in paths if home.row(path).path == PROFILE), "")
    if unproved and "profile" not in tool.groups and not context.is_attended:
        return text("taint.unproved", language, path=unproved)
    if not context.taint:
        return ""
    what = ""
    remembered = next((path for path, found in rules.items() if found is WriteRule.MEMORY), "")
    if tool.egress:
        what = text("taint.egress", language, tool=tool.name)
    elif "exec" in tool.groups:
        what = text("taint.exec", language, tool=tool.name)
    elif remembered:
        what = text("taint.returns", language, path=remembered)
    elif loads := _loads_more(tool.effect.plan(arguments, context)) if tool.effect else "":
        what = text("taint.loads", language, loads=loads)
    if not what:
        return ""
    return text("taint.read", language, sources=_named(context.taint.sources, language), what=what)


def _named(sources: list[str], language: Language) -> str:
    named = text("taint.comma", language).join(" ".join(source.split())[:120] for source in sources[:_SHOWN])
    left = len(sources) - _SHOWN
    return text("taint.more", language, named=named, count=left) if left > 0 else named


def _loads_more(drafts: "Iterable[Draft]") -> str:
    """A part of the notes that would be fetched or run when shown, and was not before; else empty."""
    drafts = tuple(drafts)
    before = {piece for draft in drafts for piece in active(draft.path, draft.before)}
    after = (piece for draft in drafts for piece in active(draft.path, draft.after))
    return next((" ".join(piece.split())[:80] for piece in after if piece not in before), "")


def active(path: str, data: bytes | None) -> list[str]:
    """The parts of a file that an editor fetches or runs by itself when it shows the file; plain links are not
    included."""
    shown = (data or b"").decode("utf-8", "replace")
    if path.casefold().endswith(_VIEWS):
        return shown.splitlines()
    images = [found[1] for found in _IMAGE.finditer(shown) if not _LOCAL_IMAGE.match(found[1])]
    return images + [found[1] for found in _LOADS.finditer(shown)]
