"""Khoj: its conversations as JSON, each with the list `chat`, alone, in a list, or as what its API answers."""

from collections.abc import Iterator
from datetime import datetime

from agent.importers.export import Export, ExportFile
from agent.importers.json_stream import first, records
from agent.importers.values import ImportedConversation, ImportedTurn, Item, moment
from agent.llm.messages import JsonObject, items, mapping, text

_PLACES = ("item", "conversations.item", "response", "")
_NAMED = ("turnId", "created", "by")
"""What together names one turn."""
_PERSON = frozenset({"you", "user"})


def fits(source: Export) -> bool:
    """True for conversations of Khoj."""
    return any(_chat(first(file, place)) for file in source.ending(".json") for place in _PLACES)


def read(source: Export) -> Iterator[Item]:
    """The conversations."""
    for file in source.ending(".json"):
        for each in records(file, *_PLACES):
            if _chat(each):
                yield _conversation(each, file)


def _chat(found: JsonObject) -> list[JsonObject]:
    turns = items(found.get("chat")) or items(mapping(found.get("conversation_log")).get("chat"))
    return [each for value in turns if "by" in (each := mapping(value)) and "message" in each]


def _conversation(found: JsonObject, file: ExportFile) -> ImportedConversation:
    title = text(found.get("title")) or text(found.get("slug")) or file.name.rpartition("/")[2].removesuffix(".json")
    turns = tuple(
        ImportedTurn(" ".join(text(each.get(key)) for key in _NAMED), _is_person(each), words, _at(each))
        for each in _chat(found)
        if (words := text(each.get("message"))).strip()
    )
    created = moment(found.get("created_at")) or moment(found.get("created")) or (turns[0].at if turns else None)
    id = text(found.get("conversation_id")) or text(found.get("id")) or f"{file.name} {title}"
    return ImportedConversation(id, title, turns, created)


def _at(turn: JsonObject) -> datetime | None:
    return moment(turn.get("created"))


def _is_person(turn: JsonObject) -> bool:
    return text(turn.get("by")).casefold() in _PERSON
