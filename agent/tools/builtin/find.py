"""`vault_grep` and `open_tasks`: lines of notes by what they say, and the person's unticked boxes by their days.

A line of others is named and not shown: who is shown it is marked for good (`taint`), and may still read it on purpose.
"""

from collections.abc import Iterator
from datetime import date
from itertools import islice

from agent.clock import Clock
from agent.errors import ToolRetry
from agent.llm.messages import JsonObject
from agent.markdown.tasks import TaskDates
from agent.markdown.title import clipped
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.note_access import check_readable, may_read
from agent.tools.tool import Cited, RunContext, Tool, ToolOutput
from agent.tools.wrappers import rows_that_fit
from agent.vault.find import numbered_lines
from agent.vault.folders import is_hidden
from agent.vault.task_lines import TaskLine, open_tasks

SHOWN = 50
"""The most lines or tasks of one result."""
_LOOKED_AT = 2_000
_LINE = 300
_FOLDER: JsonObject = {"type": "string", "maxLength": 300}


def grep_tool(notes: Notes) -> Tool:
    """`vault_grep`, which finds lines that have just this text; for guests only in notes that they may read."""

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        text, folder = arguments.text(call, "text"), _folder(call)
        rows, by_others = list[str](), dict[str, None]()
        sources = list[Cited]()
        home = notes.vault.home
        found = numbered_lines(notes.vault, text, folder)
        readable = (row for row in found if not is_hidden(row[0]) and may_read(context.role, row[0], home))
        for path, number, line in islice(readable, _LOOKED_AT):
            if _origin(notes, path, number):
                by_others[path] = None
            else:
                rows.append(f"{path}:{number}: {clipped(line.strip(), _LINE)}")
                sources.append(Cited(path, (number, number)))
        if not rows and not by_others:
            return ToolOutput("no line has that text; search_vault finds other words for it")
        fit = min(rows_that_fit(rows), SHOWN)
        left = f"… and {len(rows) - fit} more lines, from {rows[fit].partition(': ')[0]} on" if rows[fit:] else ""
        more = [f"{left}: name a folder, or more of the text"] if left else []
        others = [f"(others wrote lines with it, not shown, in {', '.join(by_others)})"] if by_others else []
        return ToolOutput("\n".join([*rows[:fit], *more, *others]), tuple(sources[:fit]))

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
            return not dates.is_closed and (until is None or (dates.day or date.max) <= until)

        tasks = open_tasks(notes.vault, wanted, lambda dates: (dates.day or date.max).toordinal(), _folder(call))
        found = sorted(
            (each for each in tasks if not tag or _has_tag(each, tag)),
            key=lambda each: (each.day, each.path, each.line),
        )
        if not found:
            return ToolOutput("there is no such open task")
        today = clock.now().date()
        rows = list(_rows(found[:SHOWN], today))
        shown = found[: rows_that_fit(rows)]
        more = [f"… and {len(found) - len(shown)} more: name a folder, a tag or a day"] if found[len(shown) :] else []
        sources = tuple(Cited(each.path, (each.line, each.line)) for each in shown)
        origins = dict.fromkeys(filter(None, (_origin(notes, each.path, each.line) for each in shown)))
        return ToolOutput("\n".join([*rows[: len(shown)], *more]), sources, untrusted="; ".join(origins))

    schema = arguments.schema(
        until={"type": "string", "description": "a day, YYYY-MM-DD: what is due by then"},
        folder=_FOLDER,
        tag={"type": "string", "maxLength": 100},
    )
    description = "List the person's unticked boxes, by the day on which they are due."
    return Tool("open_tasks", description, schema, perform, _GROUP, readonly=True)


_GROUP = frozenset({"search"})


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
