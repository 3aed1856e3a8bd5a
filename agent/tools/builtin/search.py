"""`search_vault` and `memory_recall`: passages that answer a question, with the lines they stand in.

How notes are searched is the index's, which memories count is the caller's: both come in as a function.
"""

from collections.abc import Callable
from typing import TypeAlias

from agent.index.hit import Answer, Hit
from agent.llm.messages import Object
from agent.tools import arguments as given
from agent.tools.builtin.notes import Notes
from agent.tools.tool import Cited, Given, RunContext, Tool

Search: TypeAlias = Callable[[str, int], Answer]
"""(question, limit) to what was found."""

LIMIT = 8
_PASSAGE = 1_200


def search_tool(notes: Notes, search: Search) -> Tool:
    """`search_vault`: everything that is in the notes."""
    said = "Find passages in the notes that answer a question or contain some words."
    return _finding(notes, "search_vault", said, search, "search")


def recall_tool(notes: Notes, recall: Search) -> Tool:
    """`memory_recall`: what was remembered."""
    said = "Recall what was remembered about a person, a preference, a decision."
    return _finding(notes, "memory_recall", said, recall, "memory")


def _finding(notes: Notes, name: str, said: str, find: Search, group: str) -> Tool:
    def perform(call: Object, context: RunContext) -> Given:
        answer = find(given.text(call, "query"), given.number(call, "limit", LIMIT))
        note = [f"(the search is limited just now: {answer.degraded})"] if answer.degraded else []
        if not answer.hits:
            return Given("\n".join(["nothing was found; try other words", *note]))
        shown = [_shown(number, hit) for number, hit in enumerate(answer.hits, 1)]
        origins = dict.fromkeys(filter(None, (_origin(notes, hit) for hit in answer.hits)))
        sources = tuple(Cited(hit.path, hit.lines) for hit in answer.hits)
        return Given("\n\n".join(shown + note), sources, untrusted="; ".join(origins))

    schema: Object = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 2000},
            "limit": {"type": "integer", "minimum": 1, "maximum": 30, "description": f"default {LIMIT}"},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    return Tool(name, said, schema, perform, frozenset({group}), readonly=True)


def _shown(number: int, hit: Hit) -> str:
    first, last = hit.lines
    heading = f" > {' > '.join(hit.headings)}" if hit.headings else ""
    passage = hit.passage if len(hit.passage) <= _PASSAGE else hit.passage[:_PASSAGE] + "…"
    return f"{number}. {hit.path}, lines {first}-{last}{heading}\n{passage}"


def _origin(notes: Notes, hit: Hit) -> str:
    data = notes.vault.read(hit.path)
    return notes.foreign.source(hit.path, data, hit.lines) if data is not None else ""
