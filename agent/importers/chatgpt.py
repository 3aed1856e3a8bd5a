"""ChatGPT: the archive of *Export data*, or the `conversations.json` (`conversations-000.json` …) in it.

A conversation is a tree of messages, since each can be edited or asked again; what is imported is the branch that was
shown last. Files lie in the archive under names that begin with their id.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.importers.export import Export, ExportFile
from agent.importers.json_stream import begins_with, records
from agent.importers.values import ImportedConversation, ImportedFile, ImportedTurn, Item, moment
from agent.llm.messages import Json, JsonObject, items, mapping, text

_FILE = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json", re.IGNORECASE)
_POINTER = re.compile(r"(?:file-service|sediment)://(file[-_][A-Za-z0-9]{6,64})")
_FILE_ID = re.compile(r"file[-_][A-Za-z0-9]{6,64}")
_SPOKEN = frozenset({"user", "assistant"})
_HIDDEN = frozenset({"thoughts", "reasoning_recap", "model_editable_context", "user_editable_context"})
"""The kinds of content that are not part of the talk."""


def fits(source: Export) -> bool:
    """True for an export of ChatGPT."""
    return any(begins_with(file, "mapping") for file in _files(source)[:1])


def read(source: Export) -> Iterator[Item]:
    """The conversations."""
    files = _by_id(source)
    for file in _files(source):
        for each in records(file):
            yield _conversation(each, files)


def _files(source: Export) -> list[ExportFile]:
    found = [each for name, each in source.files.items() if _FILE.fullmatch(name)]
    return found or (list(source.files.values()) if len(source.files) == 1 else [])


def _by_id(source: Export) -> dict[str, ExportFile]:
    return {found[0]: each for name, each in source.files.items() if (found := _FILE_ID.match(name.rpartition("/")[2]))}


def _conversation(conversation: JsonObject, files: dict[str, ExportFile]) -> ImportedConversation:
    nodes = mapping(conversation.get("mapping"))
    turns = [turn for node in _branch(nodes, text(conversation.get("current_node"))) if (turn := _turn(node, files))]
    id = text(conversation.get("conversation_id")) or text(conversation.get("id"))
    address = f"https://chatgpt.com/c/{id}" if id.replace("-", "").isalnum() else ""
    created = moment(conversation.get("create_time"))
    key = id or f"{text(conversation.get('title'))} {conversation.get('create_time')}"
    return ImportedConversation(key, text(conversation.get("title")), tuple(turns), created, address)


def _branch(nodes: JsonObject, last: str) -> Sequence[JsonObject]:
    """The messages from the first to the last one shown; without one, all in their order."""
    found, seen = list[JsonObject](), set[str]()
    while last in nodes and last not in seen:
        seen.add(last)
        node = mapping(nodes[last])
        found.append(mapping(node.get("message")))
        last = text(node.get("parent"))
    return found[::-1] if found else [mapping(mapping(each).get("message")) for each in nodes.values()]


def _turn(message: JsonObject, files: dict[str, ExportFile]) -> ImportedTurn | None:
    """The turn that a message is; None for what is not part of the talk."""
    role = text(mapping(message.get("author")).get("role"))
    content, about = mapping(message.get("content")), mapping(message.get("metadata"))
    is_hidden = about.get("is_visually_hidden_from_conversation") is True or content.get("content_type") in _HIDDEN
    is_call = text(message.get("recipient")) not in ("", "all")
    attached = _files_in(content, about, files)
    if is_hidden or (role not in _SPOKEN and not (role == "tool" and attached)):
        return None
    words = "" if role == "tool" else _words(content, is_call)
    if not words.strip() and not attached:
        return None
    return ImportedTurn(text(message.get("id")), role == "user", words, moment(message.get("create_time")), attached)


def _words(content: JsonObject, is_call: bool) -> str:
    parts = [text(each) if isinstance(each, str) else _of_part(mapping(each)) for each in items(content.get("parts"))]
    words = "\n\n".join(filter(None, [*parts, text(content.get("text"))]))
    return f"```\n{words}\n```" if words and (is_call or content.get("content_type") == "code") else words


def _of_part(part: JsonObject) -> str:
    """The words of a part that is no plain text, such as the transcript of what was spoken."""
    return text(part.get("text"))


def _files_in(content: JsonObject, about: JsonObject, files: dict[str, ExportFile]) -> tuple[ImportedFile, ...]:
    ids = [text(mapping(each).get("id")) for each in items(about.get("attachments"))]
    ids += [found[1] for each in items(content.get("parts")) if (found := _POINTER.match(_pointer(each)))]
    return tuple(_named(files[each].attachment, each) for each in dict.fromkeys(ids) if each in files)


def _named(file: ImportedFile, id: str) -> ImportedFile:
    """The file under the name that it had before it got its id."""
    return replace(file, name=file.name.removeprefix(id).lstrip("-_") or file.name)


def _pointer(part: Json) -> str:
    return text(mapping(part).get("asset_pointer"))
