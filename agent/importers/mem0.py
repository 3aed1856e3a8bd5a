"""mem0: the memories that its API or its export gives: a list, or one under `results` or `memories`."""

from collections.abc import Iterator
from datetime import UTC, datetime

from agent.importers.export import Export, ExportFile
from agent.importers.json_stream import begins_with, records
from agent.importers.values import Item, LeftItem, LeftReason, fact, moment
from agent.llm.messages import items, text

_PLACES = ("item", "results.item", "memories.item")


def fits(source: Export) -> bool:
    """True for memories of mem0."""
    return bool(_files(source))


def _files(source: Export) -> list[ExportFile]:
    return [
        each
        for each in source.ending(".json")
        if any(begins_with(each, "id", "memory", prefix=place) for place in _PLACES)
    ]


def read(source: Export) -> Iterator[Item]:
    """The memories."""
    for file in _files(source):
        for each in records(file, *_PLACES):
            statement, id = text(each.get("memory")).strip(), text(each.get("id"))
            created = moment(each.get("created_at")) or file.modified or datetime.fromtimestamp(0, UTC)
            if not statement:
                yield LeftItem(id or file.name, LeftReason.EMPTY)
                continue
            yield fact(id or statement, statement, created, tuple(map(text, items(each.get("categories")))))
