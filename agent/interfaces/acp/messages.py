"""What this program says and is told, in the values of the Agent Client Protocol."""

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote, urlsplit

from acp import schema, text_block, tool_content, tool_diff_content, update_agent_message_text, update_user_message_text

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.events.runs import PlanChanged, ToolCallFailed, ToolCallStarted, ToolCompleted
from agent.lazy import later
from agent.llm.messages import Assistant, Message, ToolResult, User
from agent.markdown.title import clipped
from agent.texts import Language, text
from agent.tools.arguments import main_argument
from agent.tools.tool import Draft
from agent.tools.tool_names import resolved

if TYPE_CHECKING:
    from agent.runs.captured_files import CapturedFile
else:  # an editor waits for the first answer
    CapturedFile = later("agent.runs.captured_files", "CapturedFile")

Block: TypeAlias = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)
Update: TypeAlias = (
    schema.AgentMessageChunk
    | schema.UserMessageChunk
    | schema.ToolCallStart
    | schema.ToolCallProgress
    | schema.AgentPlanUpdate
    | schema.AgentThoughtChunk
    | schema.AvailableCommandsUpdate
    | schema.CurrentModeUpdate
)
Content: TypeAlias = schema.ContentToolCallContent | schema.FileEditToolCallContent | schema.TerminalToolCallContent

_KINDS: Mapping[str, schema.ToolKind] = {
    **dict.fromkeys(("vault_read", "vault_list", "vault_log", "open_tasks", "profile.read", "skills.show"), "read"),
    **dict.fromkeys(("vault_write", "vault_edit", "vault_append", "profile.write", "profile.create"), "edit"),
    **dict.fromkeys(("vault_grep", "search_vault", "memory_recall", "tool_search", "profile.search"), "search"),
    **dict.fromkeys(("web_fetch", "web_search", "research"), "fetch"),
    **dict.fromkeys(("memory_forget", "jobs.delete", "profile.delete"), "delete"),
    "vault_move": "move",
    "shell_run": "execute",
    "delegate": "think",
}
_PICTURES = frozenset({"png", "jpeg", "gif", "webp"})
_TAKEN = "send text or a picture (PNG, JPEG, GIF, WebP), or name a note of the vault"
_LONGEST = 60
"""Characters of what a call is about, in its title."""
YES, NO = "yes", "no"
"""The ids of the options of a request for a yes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks in an editor. `foreign` names the files whose text stands in it, which others may have
    written; empty for none. `pictures` are to be kept in the vault, where the model can look at them."""

    task: str
    foreign: str = ""
    pictures: "tuple[CapturedFile, ...]" = ()


def asked_of(blocks: Sequence[Block], root: Path) -> Asked:
    """The task in a prompt. A note of the vault at `root` is named by a link, and read when it is needed; the text of
    any other file stands in the task. Raises `UserError` for a sound, and for nothing at all."""
    parts: list[str] = []
    foreign: list[str] = []
    pictures: list[CapturedFile] = []
    for block in blocks:
        match block:
            case schema.TextContentBlock():
                parts.append(block.text)
            case schema.ResourceContentBlock():
                parts.append(_linked(block.uri, root) or f"<{block.uri}>")
            case schema.EmbeddedResourceContentBlock(resource=schema.TextResourceContents() as held):
                link = _linked(held.uri, root)
                parts.append(link or f"\n\n{held.uri}:\n\n{held.text}\n\n")
                foreign += [] if link else [_name(held.uri)]
            case schema.ImageContentBlock(data=data, mime_type=kind):
                pictures.append(_picture(data, kind))
            case schema.EmbeddedResourceContentBlock(resource=schema.BlobResourceContents(blob=data, mime_type=kind)):
                pictures.append(_picture(data, kind or ""))
            case _:
                raise UserError("this kind of content is not taken", hint=_TAKEN)
    task = "".join(parts).strip()
    if not (task or pictures):
        raise UserError("there is nothing to do in an empty message")
    return Asked(task, ", ".join(foreign), tuple(pictures))


def _picture(data: str, kind: str) -> "CapturedFile":
    """A picture as a file; raises `UserError` for any other kind, and for one that is damaged."""
    ending = kind.removeprefix("image/").removesuffix("+xml")
    if ending not in _PICTURES or not kind.startswith("image/"):
        raise UserError("this kind of content is not taken", hint=_TAKEN)
    try:
        return CapturedFile(f"picture.{ending}", b64decode(data, validate=True))
    except ValueError as error:
        raise UserError("the picture is damaged", hint="send it once more") from error


def _linked(uri: str, root: Path) -> str:
    """The link to a note or file of the vault; empty for anything else."""
    parts = urlsplit(uri)
    path = Path(unquote(parts.path))
    if parts.scheme != "file" or not path.is_relative_to(root):
        return ""
    return f"[[{path.relative_to(root).as_posix().removesuffix('.md')}]]"


def _name(uri: str) -> str:
    return unquote(urlsplit(uri).path).rpartition("/")[2] or uri


def agent_text(words: str) -> schema.AgentMessageChunk:
    """The update for a piece of the agent's text."""
    return update_agent_message_text(words)


def started(
    event: ToolCallStarted, root: Path, *, again: bool = False
) -> schema.ToolCallStart | schema.ToolCallProgress:
    """The update for the beginning of a call in the vault at `root`; `again`: it was shown before, and waited."""
    if again:
        return schema.ToolCallProgress(session_update="tool_call_update", tool_call_id=event.call, status="in_progress")
    return schema.ToolCallStart(
        session_update="tool_call",
        tool_call_id=event.call,
        title=_title(event.tool, event.subject),
        kind=_KINDS.get(event.tool, "other"),
        status="in_progress",
        locations=_places([event.subject], root),
    )


def ended(event: ToolCompleted | ToolCallFailed, changed: Sequence[Draft], root: Path) -> schema.ToolCallProgress:
    """The update for the end of a call, with what it has changed."""
    if isinstance(event, ToolCallFailed):
        failed: list[Content] = [tool_content(text_block(event.error))]
        return schema.ToolCallProgress(
            session_update="tool_call_update", tool_call_id=event.call, status="failed", content=failed
        )
    return schema.ToolCallProgress(
        session_update="tool_call_update",
        tool_call_id=event.call,
        status="completed",
        content=differences(changed, root) or None,
        locations=_places([each.path for each in changed], root) or None,
    )


def planned(plan: PlanChanged) -> schema.AgentPlanUpdate:
    """The whole plan, as an editor shows it."""
    steps: list[tuple[str, schema.PlanEntryStatus]] = [(each, "completed") for each in plan.done]
    steps += [(plan.now, "in_progress"), *((each, "pending") for each in plan.left)]
    entries = [schema.PlanEntry(content=step, priority="medium", status=status) for step, status in steps]
    return schema.AgentPlanUpdate(session_update="plan", entries=entries)


def differences(changed: Iterable[Draft], root: Path) -> list[Content]:
    """The old and the new text of each note; a note that goes away has an empty new text."""
    return [
        tool_diff_content(
            str(root / each.path), _decoded(each.after), None if each.before is None else _decoded(each.before)
        )
        for each in changed
    ]


def _decoded(data: bytes | None) -> str:
    return (data or b"").decode(errors="replace")


def _places(names: Iterable[str], root: Path) -> list[schema.ToolCallLocation]:
    """Those of the names that are files of the vault."""
    found = (root / name for name in names if name and "\0" not in name and len(name) < 1_000)
    return [schema.ToolCallLocation(path=str(path)) for path in found if path.is_relative_to(root) and path.is_file()]


def _title(tool: str, subject: str) -> str:
    line = " ".join(subject.split())
    return f"{tool} {clipped(line, _LONGEST)}" if line else tool


def options(language: Language) -> list[schema.PermissionOption]:
    """The answers to a request for a yes: each counts once."""
    allow, reject = text("reply.allow", language), text("reply.refuse", language)
    return [
        schema.PermissionOption(option_id=YES, name=allow, kind="allow_once"),
        schema.PermissionOption(option_id=NO, name=reject, kind="reject_once"),
    ]


def replayed(history: Iterable[Message]) -> Iterator[Update]:
    """What was said in a conversation, as an editor shows it again: messages, and calls with how they ended."""
    messages = list(history)
    failed = {each.call: each.failed for each in messages if isinstance(each, ToolResult)}
    for message in messages:
        match message:
            case User(text=words):
                yield update_user_message_text(words)
            case Assistant(text=words, calls=calls):
                if words:
                    yield agent_text(words)
                for call in calls:
                    meant = resolved(call)
                    yield schema.ToolCallStart(
                        session_update="tool_call",
                        tool_call_id=call.id,
                        title=_title(meant.name, main_argument(meant.arguments, {})),
                        kind=_KINDS.get(meant.name, "other"),
                        status="failed" if failed.get(call.id) else "completed" if call.id in failed else "pending",
                    )
