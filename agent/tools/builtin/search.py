"""The tools that search notes: passages by meaning and memories, lines by their exact text, and open tasks."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import islice
from typing import TypeAlias, TypeVar

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import ToolRetry
from agent.index.document import note_day
from agent.index.query import Hit, Mode, SearchResult
from agent.llm.messages import JsonObject
from agent.markdown.note import Note
from agent.markdown.tasks import TaskDates
from agent.markdown.title import clipped
from agent.memory.recall.authorship import is_agents
from agent.memory.recall.likely import fits_by_itself
from agent.memory.recall.recaller import Recollection, Remembered
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.note_access import check_readable, may_read
from agent.tools.taint import frame, unframed
from agent.tools.tool import Cited, RunContext, Tool, ToolOutput
from agent.tools.wrappers import rows_that_fit
from agent.vault.find import files_named, numbered_lines
from agent.vault.folders import ENTRIES, AgentFolder, WriteRule, is_hidden
from agent.vault.task_lines import TaskLine, open_tasks

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


@dataclass(frozen=True, slots=True)
class _ReadNotes:
    """The notes of one call's results, each read once, and the origin of each result (empty: the owner's)."""

    notes: Notes
    data: Mapping[str, bytes | None]
    sources: Mapping[tuple[str, tuple[int, int]], str]

    def source(self, found: Hit | Remembered) -> str:
        """The origin of a result."""
        return self.sources[found.path, found.lines]


def _read(notes: Notes, found: Iterable[Hit | Remembered]) -> _ReadNotes:
    """What is shown of these results."""
    places = dict.fromkeys((each.path, each.lines) for each in found)
    data = {path: notes.vault.read(path) for path in dict.fromkeys(path for path, _ in places)}
    with notes.vault.provenance.looked():
        sources = {
            (path, lines): notes.origin_of(path, read, lines) if (read := data[path]) is not None else ""
            for path, lines in places
        }
    return _ReadNotes(notes, data, sources)


def search_tool(notes: Notes, search: SearchNotes) -> Tool:
    """`search_vault`, which finds passages of notes; for guests only in notes that they may read."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        query, limit = arguments.text(call, "query"), arguments.number(call, "limit", LIMIT)
        answer = _open_to(notes.vault.home, context, search, query, limit)
        read = _read(notes, answer.hits)
        limited = f"(the search is limited just now: {answer.degraded})" if answer.degraded else ""
        fitting, left = _fitting(read, answer.hits, answer.mode)
        show = partial(_format_hit, read)
        known = files_named(notes.vault, query) if answer.files is None else answer.files
        named = [each for each in known if may_read(context.role, each, notes.vault.home)]
        named = [each for each in named if not notes.origin.named(each)][:_NAMED]
        files = f"(files that have these words in their names: {', '.join(named)})" if named else ""
        return _format_results(read, fitting, show, "nothing was found", [limited, left, files])

    description = "Find passages in the person's notes; with kind:agent in your own."
    return Tool("search_vault", description, _SCHEMA, perform, frozenset({"search"}), readonly=True)


def recall_tool(notes: Notes, recall: RecallMemories) -> Tool:
    """`memory_recall`, which finds memories of the person who asks."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        query = arguments.text(call, "query")
        found = recall(query, arguments.number(call, "limit", LIMIT), context)
        limited = f"(recall is limited just now: {found.degraded})" if found.degraded else ""
        read = _read(notes, found.found)
        fitting, left = _fitting(read, found.found, found.mode)
        return _format_results(read, fitting, _recalled, "nothing is remembered about that", [limited, left])

    description = "Recall what the person told: about somebody, a preference, a decision."
    return Tool("memory_recall", description, _SCHEMA, perform, frozenset({"memory"}), readonly=True)


def _format_results(
    read: _ReadNotes, found: Sequence[_Found], show: Callable[[int, _Found], str], nothing: str, remarks: Sequence[str]
) -> ToolOutput:
    """The results, numbered, with their sources. Each with untrusted text is framed by itself: it casts no doubt on the
    person's own notes beside it."""
    note: list[str] = [each for each in remarks if each]
    if not found:
        return ToolOutput("\n".join([f"{nothing}; try other words", *note]))
    sources_of = [read.source(each) for each in found]
    texts = [
        frame(show(number, each), origin) if origin else unframed(show(number, each))
        for number, (each, origin) in enumerate(zip(found, sources_of, strict=True), 1)
    ]
    fit = max(rows_that_fit(texts), 1)
    if rest := found[fit:]:
        note.insert(0, _format_rest(read.notes, rest))
    found, texts = found[:fit], texts[:fit]
    origins = dict.fromkeys(filter(None, sources_of[:fit]))
    sources = tuple(Cited(each.path, each.lines) for each in found)
    return ToolOutput("\n\n".join(texts + note), sources, untrusted="; ".join(origins), is_framed=True)


def _format_rest(notes: Notes, rest: Sequence[_Found]) -> str:
    """A line that names the results for which there is no room."""
    named = [f"{each.path}:{each.lines[0]}-{each.lines[1]}" for each in rest if not notes.origin.named(each.path)]
    names = named[:_NAMED] + (["…"] if len(named[:_NAMED]) < len(rest) else [])
    return f"({len(rest)} more: {', '.join(names)})"


def _fitting(read: _ReadNotes, found: Sequence[_Found], mode: Mode) -> tuple[list[_Found], str]:
    """The results without those by others that do not fit by themselves, and a line that names those."""
    fitting, left = list[_Found](), list[str]()
    for each in found:
        hit = each.hit if isinstance(each, Remembered) else each
        if fits_by_itself(hit, mode) or not read.source(each):
            fitting.append(each)
        elif not read.notes.origin.named(each.path):
            left.append(each.path)
    names = ", ".join(dict.fromkeys(left))
    return fitting, f"(not shown, as others wrote it and it hardly fits: {names})" if left else ""


def _open_to(home: AgentFolder, context: RunContext, find: SearchNotes, query: str, limit: int) -> SearchResult:
    """The results that the person of the run may see."""
    if context.role == "owner":
        return find(query, limit)
    answer = find(query, limit * _SPARE)
    hits = tuple(hit for hit in answer.hits if may_read(context.role, hit.path, home))
    return replace(answer, hits=hits[:limit])


def _format_hit(read: _ReadNotes, number: int, hit: Hit) -> str:
    vault = read.notes.vault
    first, last = hit.lines
    heading = f" > {' > '.join(hit.headings)}" if hit.headings else ""
    own = f" ({_OWN})" if is_agents(hit, vault.home) else ""
    if not hit.is_of_note:
        return f"{number}. {hit.part}, lines {first}-{last}\n{clipped(hit.passage, _PASSAGE)}"
    note = Note.parse(read.data[hit.path] or b"")
    day = note_day(hit.path, note, hit.title, next(iter(hit.headings), ""))
    later = note.string("superseded_by") if vault.home.holds(hit.path, ENTRIES) else ""
    head = f"{number}. {hit.path}, {f'{day}, ' if day and day not in hit.path else ''}lines {first}-{last}"
    over = f" (no longer true, see {later})" if later else ""
    return f"{head}{heading}{own}{over}\n{clipped(hit.passage, _PASSAGE)}"


def _recalled(number: int, each: Remembered) -> str:
    head, _, text = each.model_text.partition("\n")
    return f"{number}. {head}, lines {each.lines[0]}-{each.lines[1]}\n{text}"


SHOWN = 50
"""The most lines or tasks of one result."""
_LOOKED_AT = 2_000
_LINE = 300
_FOLDER: JsonObject = {"type": "string", "maxLength": 300}


def _without_records(
    found: Iterable[tuple[str, int, str]], home: AgentFolder, records: dict[str, None], *, whole: bool
) -> Iterator[tuple[str, int, str]]:
    """The lines without those of the program's own records, whose paths go into `records`; `whole`: all of them."""
    for row in found:
        if not whole and home.write_rule(row[0]) is WriteRule.PROGRAM:
            records[row[0]] = None
        else:
            yield row


def grep_tool(notes: Notes) -> Tool:
    """`vault_grep`, which finds lines that have just this text; for guests only in notes that they may read."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        text, folder = arguments.text(call, "text"), _folder(call)
        rows, by_others, own = list[str](), dict[str, None](), dict[str, None]()
        sources = list[Cited]()
        home = notes.vault.home
        found = numbered_lines(notes.vault, text, folder)
        readable = (row for row in found if not is_hidden(row[0]) and may_read(context.role, row[0], home))
        others_of = (row for row in readable if row[0] != context.session)
        for path, number, line in islice(_without_records(others_of, home, own, whole=bool(folder)), _LOOKED_AT):
            if _origin(notes, path, number):
                by_others[path] = None
            else:
                rows.append(f"{path}:{number}: {clipped(line.strip(), _LINE)}")
                sources.append(Cited(path, (number, number)))
        records = [_format_records([*own])] if own else []
        if not rows and not by_others:
            return ToolOutput("\n".join(["no line has that text; search_vault finds other words for it", *records]))
        fit = min(rows_that_fit(rows), SHOWN)
        left = f"… and {len(rows) - fit} more lines, from {rows[fit].partition(': ')[0]} on" if rows[fit:] else ""
        more = [f"{left}: name a folder, or more of the text"] if left else []
        others = [f"(others wrote lines with it, not shown, in {', '.join(by_others)})"] if by_others else []
        return ToolOutput("\n".join([*rows[:fit], *more, *others, *records]), tuple(sources[:fit]))

    schema = arguments.schema(
        "text",
        text={"type": "string", "minLength": 2, "maxLength": 200, "description": "* for any characters"},
        folder=_FOLDER,
    )
    return Tool("vault_grep", "Find each line with just this text.", schema, perform, _GROUP, readonly=True)


def tasks_tool(notes: Notes, clock: Clock) -> Tool:
    """`open_tasks`, which lists the unticked boxes in the person's own notes; for the owner only."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        if context.role != "owner":
            raise ToolRetry("the tasks are for the owner of this vault only")
        until, tag = _day(arguments.text(call, "until")), arguments.text(call, "tag").lstrip("#").casefold()

        def wanted(text: str, dates: TaskDates) -> bool:
            return not dates.is_closed

        today = clock.now().date()
        tasks = open_tasks(notes.vault, today, wanted, lambda dates: (dates.day or date.max).toordinal(), _folder(call))
        having = [each for each in tasks if not tag or _has_tag(each, tag)]
        found = sorted(
            (each for each in having if until is None or (each.dates.day or date.max) <= until),
            key=lambda each: (each.day, each.path, each.line),
        )
        undated = sum(each.dates.day is None for each in having) if until is not None else 0
        others = [f"({undated} more without a day: ask without until)"] if undated else []
        if not found:
            return ToolOutput("\n".join(["there is no such open task", *others]))
        rows = list(_rows(found[:SHOWN], today))
        listed = found[: rows_that_fit(rows)]
        more = [f"… and {len(found) - len(listed)} more: name a folder, a tag or a day"] if found[len(listed) :] else []
        sources = tuple(Cited(each.path, (each.line, each.line)) for each in listed)
        origins = dict.fromkeys(filter(None, (_origin(notes, each.path, each.line) for each in listed)))
        return ToolOutput("\n".join([*rows[: len(listed)], *more, *others]), sources, untrusted="; ".join(origins))

    schema = arguments.schema(
        until={"type": "string", "description": "a day, YYYY-MM-DD: what is due by then"},
        folder=_FOLDER,
        tag={"type": "string", "maxLength": 100},
    )
    description = "List the person's unticked boxes, by the day on which they are due."
    return Tool("open_tasks", description, schema, perform, _GROUP, readonly=True)


_GROUP = frozenset({"search"})


def _format_records(paths: list[str]) -> str:
    """The line that names the agent's own records which have a text, such as the conversation in which it was said."""
    named = ", ".join(paths[:_NAMED]) + (", …" if paths[_NAMED:] else "")
    return f"(also in your own records, not shown unless you name a folder: {named})"


def _rows(found: list[TaskLine], today: date) -> Iterator[str]:
    for each in found:
        day = each.dates.day
        when = "no day" if day is None else f"{day} {day:%a}{' (overdue)' if day < today else ''}"
        yield f"{when} | {clipped(each.text, _LINE)} | {each.path}:{each.line}"


def _folder(call: JsonObject) -> str:
    """The beginning of the paths in the folder that a call names; empty for the vault."""
    folder = arguments.text(call, "folder").strip("/")
    return f"{check_readable(folder)}/" if folder not in {"", "."} else ""


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise ToolRetry(f"until is a day such as 2026-12-01, not {text}") from None


def _has_tag(task: TaskLine, tag: str) -> bool:
    """True if the task, or its note, has the tag or one below it."""
    words = (word.strip("#.,;").casefold() for word in task.text.split() if word.startswith("#"))
    tags = (*words, *(each.lstrip("#").casefold() for each in task.tags))
    return any(each == tag or each.startswith(f"{tag}/") for each in tags)


def _origin(notes: Notes, path: str, line: int) -> str:
    """The origin of a line of a note; empty for the owner's."""
    data = notes.vault.read(path)
    return notes.origin_of(path, data, (line, line)) if data is not None else path
