"""Gemini: *My Activity* of Google Takeout, as JSON or as a web page. It has prompts with their answers and no
conversations: those of one day become one note.
"""

import re
from collections.abc import Iterator
from heapq import merge

from agent.importers.activity_page import is_activity, page_records
from agent.importers.export import Export, ExportFile
from agent.importers.html_text import markdown_of
from agent.importers.json_stream import begins_with, records
from agent.importers.values import ImportedConversation, ImportedFile, ImportedTurn, Item, LeftItem, moment
from agent.llm.messages import JsonObject, items, mapping, text

_VERB = re.compile(r"^(?:Prompted|Asked|Said)\s+", re.IGNORECASE)
"""What an English account has before the words of the person; in other languages it stays."""


def fits(source: Export) -> bool:
    """True for an export of Gemini."""
    return bool(_files(source) or _pages(source))


def _files(source: Export) -> list[ExportFile]:
    found = [each for each in source.ending(".json") if len(source.files) == 1 or _is_activity(each)]
    return [each for each in found if begins_with(each, "header", "title", "time")]


def _pages(source: Export) -> list[ExportFile]:
    found = [each for each in source.ending(".html") if len(source.files) == 1 or "gemini" in each.name.casefold()]
    return [each for each in found if is_activity(each)]


def _is_activity(file: ExportFile) -> bool:
    return file.name.rpartition("/")[2].casefold() == "myactivity.json"


def read(source: Export) -> Iterator[Item]:
    """The prompts and answers, a conversation for each day; newest first, as they are in each file. A page is read
    where there is no JSON, which has the same with more exact times."""
    day, turns, left = "", list[ImportedTurn](), list[LeftItem]()
    found = [*map(records, _files(source))] or [page_records(each, source, left) for each in _pages(source)]
    newest_first = merge(*found, key=lambda each: text(each.get("time")), reverse=True)
    for each in newest_first:
        if not any("gemini" in text(name).casefold() for name in (*items(each.get("products")), each.get("header"))):
            continue
        at = text(each.get("time"))
        if at[:10] != day and turns:
            yield _day(day, turns)
            turns = []
        day = at[:10]
        turns = [*_turns(each, source), *turns]
    if turns:
        yield _day(day, turns)
    yield from left


def _day(day: str, turns: list[ImportedTurn]) -> ImportedConversation:
    return ImportedConversation(f"day {day}", f"Gemini {day}", tuple(turns), turns[0].at)


def _turns(record: JsonObject, source: Export) -> Iterator[ImportedTurn]:
    at, id = moment(record.get("time")), text(record.get("time"))
    asked = _VERB.sub("", text(record.get("title")), count=1)
    yield ImportedTurn(id, True, asked, at, tuple(_attached(record, source)))
    answer = "\n\n".join(markdown_of(text(mapping(each).get("html"))) for each in items(record.get("safeHtmlItem")))
    if answer.strip():
        yield ImportedTurn(f"{id} answer", False, answer, at)


def _attached(record: JsonObject, source: Export) -> Iterator[ImportedFile]:
    names = [text(each) for each in (*items(record.get("attachedFiles")), record.get("imageFile")) if each]
    for name in dict.fromkeys(names):
        yield from (each.attachment for each in source.named(name.rpartition("/")[2]))
