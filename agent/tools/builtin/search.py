"""`search_vault` and `memory_recall`: passages that answer a question, with their line numbers.

Both searches are passed in as functions: searching is left to the index, the selection of memories to the caller. A
search always finds something. What others wrote is shown only if it fits by itself, and else named: who is shown it is
marked for good (`taint`), and may still read it on purpose.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias, TypeVar

from agent.index.document import note_day
from agent.index.hit import Hit, Mode, SearchResult
from agent.llm.messages import JsonObject
from agent.markdown.note import Note
from agent.markdown.title import clipped
from agent.memory.recall.authorship import is_agents
from agent.memory.recall.gate import fits_by_itself
from agent.memory.recall.recaller import Recollection, Remembered
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.note_access import may_read
from agent.tools.tool import Cited, RunContext, Tool, ToolOutput
from agent.tools.wrappers import rows_that_fit
from agent.vault.folders import AgentFolder
from agent.vault.store import Vault

SearchNotes: TypeAlias = Callable[[str, int], SearchResult]
"""Function from (question, limit) to the results."""
RecallMemories: TypeAlias = Callable[[str, int, RunContext], Recollection]
"""Function from (question, limit, run) to the memories about it for the person of that run."""

_Found = TypeVar("_Found", Hit, Remembered)

LIMIT = 8
_PASSAGE = 1_200
_SPARE = 3
_NAMED = 8
"""The most results that are named where there is no room for them."""
_OWN = "your own earlier answer or note, not a source"
_SCHEMA = arguments.schema(
    "query",
    query={"type": "string", "minLength": 1, "maxLength": 2000},
    limit={"type": "integer", "minimum": 1, "maximum": 30},
)


def search_tool(notes: Notes, search: SearchNotes) -> Tool:
    """`search_vault`, which finds passages of notes; for guests only in notes that they may read."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        query, limit = arguments.text(call, "query"), arguments.number(call, "limit", LIMIT)
        answer = _open_to(notes.vault.home, context, search, query, limit)
        limited = f"(the search is limited just now: {answer.degraded})" if answer.degraded else ""
        kept, left = _fitting(notes, answer.hits, answer.mode)
        show = partial(_shown, notes.vault)
        return _format_results(notes, kept, show, "nothing was found", [limited, left])

    description = "Find passages in the person's notes; with kind:agent in your own."
    return Tool("search_vault", description, _SCHEMA, perform, frozenset({"search"}), readonly=True)


def recall_tool(notes: Notes, recall: RecallMemories) -> Tool:
    """`memory_recall`, which finds memories of the person who asks."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        query = arguments.text(call, "query")
        found = recall(query, arguments.number(call, "limit", LIMIT), context)
        limited = f"(recall is limited just now: {found.degraded})" if found.degraded else ""
        kept, left = _fitting(notes, found.found, found.mode)
        return _format_results(notes, kept, _recalled, "nothing is remembered about that", [limited, left])

    description = "Recall what the person told: about somebody, a preference, a decision."
    return Tool("memory_recall", description, _SCHEMA, perform, frozenset({"memory"}), readonly=True)


def _format_results(
    notes: Notes, found: Sequence[_Found], show: Callable[[int, _Found], str], nothing: str, remarks: Sequence[str]
) -> ToolOutput:
    """The results, numbered, with their sources and the origins of untrusted text in them."""
    note: list[str] = [each for each in remarks if each]
    if not found:
        return ToolOutput("\n".join([f"{nothing}; try other words", *note]))
    shown = [show(number, each) for number, each in enumerate(found, 1)]
    fit = max(rows_that_fit(shown), 1)
    if left := [f"{each.path}:{each.lines[0]}-{each.lines[1]}" for each in found[fit:]]:
        note.insert(0, f"({len(left)} more: {', '.join(left[:_NAMED])}{', …' if left[_NAMED:] else ''})")
    found, shown = found[:fit], shown[:fit]
    origins = dict.fromkeys(filter(None, (_source(notes, each.path, each.lines) for each in found)))
    sources = tuple(Cited(each.path, each.lines) for each in found)
    return ToolOutput("\n\n".join(shown + note), sources, untrusted="; ".join(origins))


def _fitting(notes: Notes, found: Sequence[_Found], mode: Mode) -> tuple[list[_Found], str]:
    """The results without those by others that do not fit by themselves, and a line that names those."""
    kept, left = list[_Found](), list[str]()
    for each in found:
        hit = each.hit if isinstance(each, Remembered) else each
        if fits_by_itself(hit, mode) or not _source(notes, each.path, each.lines):
            kept.append(each)
        elif not notes.origin.named(each.path):
            left.append(each.path)
    names = ", ".join(dict.fromkeys(left))
    return kept, f"(not shown, as others wrote it and it hardly fits: {names})" if left else ""


def _open_to(home: AgentFolder, context: RunContext, find: SearchNotes, query: str, limit: int) -> SearchResult:
    """The results that the person of the run may see."""
    if context.role == "owner":
        return find(query, limit)
    answer = find(query, limit * _SPARE)
    hits = tuple(hit for hit in answer.hits if may_read(context.role, hit.path, home))
    return replace(answer, hits=hits[:limit])


def _shown(vault: Vault, number: int, hit: Hit) -> str:
    first, last = hit.lines
    heading = f" > {' > '.join(hit.headings)}" if hit.headings else ""
    own = f" ({_OWN})" if is_agents(hit, vault.home) else ""
    if not hit.is_of_note:
        return f"{number}. {hit.part}, lines {first}-{last}\n{clipped(hit.passage, _PASSAGE)}"
    day = note_day(hit.path, Note.parse(vault.read(hit.path) or b""), hit.title, next(iter(hit.headings), ""))
    head = f"{number}. {hit.path}, {f'{day}, ' if day and day not in hit.path else ''}lines {first}-{last}"
    return f"{head}{heading}{own}\n{clipped(hit.passage, _PASSAGE)}"


def _recalled(number: int, each: Remembered) -> str:
    head, _, text = each.shown.partition("\n")
    return f"{number}. {head}, lines {each.lines[0]}-{each.lines[1]}\n{text}"


def _source(notes: Notes, path: str, lines: tuple[int, int]) -> str:
    data = notes.vault.read(path)
    return notes.origin_of(path, data, lines) if data is not None else ""
