"""Keeps untrusted text from controlling the agent: the text is framed for the model, and the run is tainted.

In a tainted run, a call that could send data out, run a program or have an effect after the run needs a person's
approval. The mark of the run is `tool.Taint`; asking for approval is left to `approvals`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.llm.messages import JsonObject
from agent.markdown.inertness.active import active_parts_of_note
from agent.texts import Language, text
from agent.tools.note_access import check_writable
from agent.vault.folders import PROFILE, AgentFolder, WriteRule, is_ordinary_note

if TYPE_CHECKING:
    from agent.tools.tool import Draft, RunContext, Tool, ToolOutput

_LETTERS = r"[^\w<>]{0,3}".join(f"[{letter}{chr(ord(letter) + 0xFEE0)}]" for letter in "untrusted")
FRAME_BEGIN = '<untrusted source="'
FRAME_END = "\n</untrusted>"
"""The end of a text of others, as a model is given it."""
_TAG = re.compile(rf"[<\uff1c\ufe64](?=[^\w<>]{{0,8}}{_LETTERS})", re.IGNORECASE)
"""The beginning of the `<untrusted>` tag, also in full-width letters, and with invisible characters between the
letters."""
_SHOWN = 3


def framed(tool: "Tool") -> "Tool":
    """The tool with untrusted results framed for the model; such a result taints the run."""

    def perform(arguments: JsonObject, context: "RunContext") -> "ToolOutput":
        output = tool.perform(arguments, context)
        if not output.untrusted:
            return output
        context.taint.mark(output.untrusted)
        if output.is_framed:
            return output
        return replace(output, text=frame(output.text, output.untrusted))

    return replace(tool, perform=perform)


def frame(content: str, source: str) -> str:
    """The text inside a tag that the text itself cannot close."""
    named = " ".join(source.split()).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return f'{FRAME_BEGIN}{named}">\n{unframed(content)}{FRAME_END}'


def unframed(content: str) -> str:
    """The text without anything that could pass for the tag, for one that stands beside framed texts."""
    return _TAG.sub("&lt;", content)


def reason_to_ask(
    tool: "Tool", arguments: JsonObject, context: "RunContext", home: AgentFolder, language: Language = "en"
) -> str:
    """The reason why a call needs a person's approval under any policy; empty if it needs none.

    Raises `BadPath` or `ToolRetry` for a note that no tool may change, or not in this run.
    """
    paths = tool.effect.paths(arguments) if tool.effect else ()
    rules = {path: home.write_rule(check_writable(path, home, context.writes)) for path in paths}
    steering = _path_with(rules, WriteRule.AFTER_YES)
    if steering and not (tool.on_request and context.is_attended):
        return text("taint.steers", language, path=steering)
    if (unproved := _path_in_profile(paths, home)) and not ("profile" in tool.groups or context.is_attended):
        return text("taint.unproved", language, path=unproved)
    if not context.taint:
        return ""
    what = _what_is_done(tool, arguments, context, _path_with(rules, WriteRule.MEMORY), language)
    return text("taint.read", language, sources=_named(context.taint.sources, language), what=what) if what else ""


def _path_with(rules: Mapping[str, WriteRule], rule: WriteRule) -> str:
    return next((path for path, found in rules.items() if found is rule), "")


def _path_in_profile(paths: Iterable[str], home: AgentFolder) -> str:
    return next((path for path in paths if home.row(path).path == PROFILE), "")


def _what_is_done(
    tool: "Tool", arguments: JsonObject, context: "RunContext", remembered: str, language: Language
) -> str:
    """The effect of a call that a tainted run must not have without a yes; empty without one. `remembered` is a path
    in the memory that it would change."""
    if tool.egress:
        return text("taint.egress", language, tool=tool.name)
    if "exec" in tool.groups:
        return text("taint.exec", language, tool=tool.name)
    if remembered:
        return text("taint.returns", language, path=remembered)
    return _what_is_written(tool.effect.plan(arguments, context) if tool.effect else (), language)


def _what_is_written(drafts: "Sequence[Draft]", language: Language) -> str:
    """The effect of notes that a note of a tainted run must not have without a yes; empty without one."""
    if special := _special(drafts):
        return text("taint.special", language, path=special)
    if loads := _loads_more(drafts):
        return text("taint.loads", language, loads=loads)
    return ""


def _named(sources: list[str], language: Language) -> str:
    named = text("taint.comma", language).join(" ".join(source.split())[:120] for source in sources[:_SHOWN])
    left = len(sources) - _SHOWN
    return text("taint.more", language, named=named, count=left) if left > 0 else named


def _loads_more(drafts: "Sequence[Draft]") -> str:
    """A part of the notes that would be fetched or run when shown, and was not before; else empty."""
    before, after = (
        Counter(part for data in version for part in active_parts_of_note(data or b""))
        for version in ([draft.before for draft in drafts], [draft.after for draft in drafts])
    )
    return next((" ".join(part.split())[:80] for part in after - before), "")


def _special(drafts: "Sequence[Draft]") -> str:
    """The path of the first file that gets a new content and is no ordinary note; empty if there is none."""
    changed = (draft.path for draft in drafts if draft.after is not None)
    return next((path for path in changed if not is_ordinary_note(path)), "")
