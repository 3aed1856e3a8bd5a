"""Claude: the archive of *Export data*: `conversations.json`, the documents of `projects.json`, and `memories.json`."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain

from agent.importers.export import Export, ExportFile
from agent.importers.json_stream import begins_with, records
from agent.importers.values import ImportedConversation, ImportedNote, ImportedTurn, Item, fact, moment, statements
from agent.llm.messages import JsonObject, items, mapping, text
from agent.markdown.inertness.active import fenced


def fits(source: Export) -> bool:
    """True for an export of Claude."""
    return any(begins_with(each, "chat_messages") for each in _files(source, "conversations.json")[:1])


def read(source: Export) -> Iterator[Item]:
    """The conversations, the documents of projects, and what it remembers."""
    for file in _files(source, "conversations.json"):
        for each in records(file):
            yield _conversation(each)
    for file in source.named("projects.json"):
        for each in records(file):
            yield from _project(each)
    for file in source.named("memories.json"):
        for each in records(file):
            yield from _memories(each, file)


def _files(source: Export, name: str) -> list[ExportFile]:
    return source.named(name) or (list(source.files.values()) if len(source.files) == 1 else [])


def _conversation(conversation: JsonObject) -> ImportedConversation:
    id, title = text(conversation.get("uuid")), text(conversation.get("name"))
    turns = tuple(turn for each in items(conversation.get("chat_messages")) if (turn := _turn(mapping(each))))
    address = f"https://claude.ai/chat/{id}" if id.replace("-", "").isalnum() else ""
    return ImportedConversation(
        id or f"{title} {conversation.get('created_at')}", title, turns, moment(conversation.get("created_at")), address
    )


def _turn(message: JsonObject) -> ImportedTurn | None:
    blocks = [mapping(each) for each in items(message.get("content"))]
    words = "\n\n".join(filter(None, (text(each.get("text")) for each in blocks if each.get("type") == "text")))
    parts = [words or text(message.get("text")), *map(_attached, items(message.get("attachments")))]
    parts += [f"*{name}*" for each in items(message.get("files")) if (name := text(mapping(each).get("file_name")))]
    whole = "\n\n".join(filter(str.strip, parts))
    is_person, at = message.get("sender") == "human", moment(message.get("created_at"))
    id = text(message.get("uuid")) or f"{message.get('sender')} {message.get('created_at')}"
    return ImportedTurn(id, is_person, whole, at) if whole else None


def _attached(value: object) -> str:
    """A text that was attached: the export has its words, not its file."""
    attached = mapping(value)  # type: ignore[arg-type]
    content, name = text(attached.get("extracted_content")), text(attached.get("file_name"))
    return f"*{name}*\n\n{fenced(content)}" if content else ""


def _project(project: JsonObject) -> Iterator[ImportedNote]:
    name, created = text(project.get("name")), moment(project.get("created_at"))
    words = "\n\n".join(filter(None, (text(project.get("description")), text(project.get("prompt_template")))))
    folder = name or "project"
    if words:
        yield ImportedNote(text(project.get("uuid")), folder, words, created, folder=folder)
    for each in map(mapping, items(project.get("docs"))):
        title = text(each.get("filename"))
        yield ImportedNote(
            text(each.get("uuid")) or f"{folder}/{title}",
            title.removesuffix(".md").removesuffix(".txt"),
            text(each.get("content")),
            moment(each.get("created_at")),
            folder=folder,
        )


def _memories(found: JsonObject, file: ExportFile) -> Iterator[Item]:
    """What it remembers: one text in paragraphs and rows, which become facts."""
    memories = [text(found.get("conversations_memory")), *map(text, mapping(found.get("project_memories")).values())]
    for words in chain.from_iterable(map(statements, memories)):
        yield fact(words, words, file.modified or datetime.fromtimestamp(0, UTC))
