"""`search_vault` and `memory_recall`: passages that answer a question, with the lines they stand in.

How notes are searched is the index's, which memories count is the caller's: both come in as a function.
"""

from collections.abc import Callable
from typing import TypeAlias

from agent.index.hit import Answer, Hit
from agent.llm.messages import Object
from agent.memory.recall import Recollection, Remembered
from agent.tools import arguments as given
from agent.tools.builtin.notes import Notes
from agent.tools.tool import Cited, Given, RunContext, Tool

Search: TypeAlias = Callable[[str, int], Answer]
"""(question, limit) to what was found."""
Recall: TypeAlias = Callable[[str, int, RunContext], Recollection]
"""(question, limit, run) to what is remembered about it for the person of that run."""

LIMIT = 8
_PASSAGE = 1_200
_SCHEMA: Object = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 2000},
        "limit": {"type": "integer", "minimum": 1, "maximum": 30, "description": f"default {LIMIT}"},
    },
    "required": ["query"],
    "additionalProperties": False,
}


def search_tool(notes: Notes, search: Search) -> Tool:
    """`search_vault`: everything that is in the notes."""
    said = "Find passages in the notes that answer a question or contain some words."
    return _finding(notes, "search_vault", said, search, "search")


def recall_tool(notes: Notes, recall: Recall) -> Tool:
    """`memory_recall`: what was remembered, for whoever asks."""

    def perform(call: Object, context: RunContext) -> Given:
        found = recall(given.text(call, "query"), given.number(call, "limit", LIMIT), context)
        note = [f"(recall is limited just now: {found.degraded})"] if found.degraded else []
        if not found.found:
            return Given("\n".join(["nothing is remembered about that; try other words", *note]))
        shown = [_recalled(number, each) for number, each in enumerate(found.found, 1)]
        origins = dict.fromkeys(filter(None, (_source(notes, each.path, each.lines) for each in found.found)))
        sources = tuple(Cited(each.path, each.lines) for each in found.found)
        return Given("\n\n".join(shown + note), sources, untrusted="; ".join(origins))

    said = "Recall what was remembered about a person, a preference, a decision."
    return Tool("memory_recall", said, _SCHEMA, perform, frozenset({"memory"}), readonly=True)


def _finding(notes: Notes, name: str, said: str, find: Search, group: str) -> Tool:
    def perform(call: Object, context: RunContext) -> Given:
        answer = find(given.text(call, "query"), given.number(call, "limit", LIMIT))
        note = [f"(the search is limited just now: {answer.degraded})"] if answer.degraded else []
        if not answer.hits:
            return Given("\n".join(["nothing was found; try other words", *note]))
        shown = [_shown(number, hit) for number, hit in enumerate(answer.hits, 1)]
        origins = dict.fromkeys(filter(None, (_source(notes, hit.path, hit.lines) for hit in answer.hits)))
        sources = tuple(Cited(hit.path, hit.lines) for hit in answer.hits)
        return Given("\n\n".join(shown + note), sources, untrusted="; ".join(origins))

    return Tool(name, said, _SCHEMA, perform, frozenset({group}), readonly=True)


def _shown(number: int, hit: Hit) -> str:
    first, last = hit.lines
    heading = f" > {' > '.join(hit.headings)}" if hit.headings else ""
    passage = hit.passage if len(hit.passage) <= _PASSAGE else hit.passage[:_PASSAGE] + "…"
    return f"{number}. {hit.path}, lines {first}-{last}{heading}\n{passage}"


def _recalled(number: int, each: Remembered) -> str:
    head, _, text = each.shown.partition("\n")
    return f"{number}. {head}, lines {each.lines[0]}-{each.lines[1]}\n{text}"


def _source(notes: Notes, path: str, lines: tuple[int, int]) -> str:
    data = notes.vault.read(path)
    return notes.foreign.source(path, data, lines) if data is not None else ""
