"""Tools that read and change notes: `vault_read`, `vault_list`, `vault_write`, `vault_edit`, `vault_append`,
`vault_move`.

The rules for reading and writing are left to `note_access`, the commit to `notes`, and concurrent saves of a note by a
person to the vault.
"""

from fnmatch import fnmatchcase

from agent.errors import NoteGone, ToolRetry
from agent.llm.messages import JsonObject
from agent.markdown.note import Note
from agent.markdown.sections import NoteSection, add_to_section, sections, sections_named
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.note_access import check_readable, check_text, check_writable, may_read
from agent.tools.shown_notes import line_count
from agent.tools.tool import Cited, Draft, Effect, Perform, PlanDrafts, RunContext, Tool, ToolOutput
from agent.vault.find import find_note
from agent.vault.transaction import Transaction
from agent.vault.worktree.paths import check

READ_CHARACTERS = 15_000
"""The most characters of one `vault_read`: below the limit of a result, so that the result says how to continue."""
LISTED = 100
_HEADINGS = 20
_GROUP = frozenset({"fs"})
_PATH: JsonObject = {
    "type": "string",
    "minLength": 1,
    "description": "relative to the vault, such as projects/garden.md",
}

_HEADING: JsonObject = {"type": "string", "minLength": 1, "maxLength": 300}


def vault_tools(notes: Notes, *, by_heading: bool = False) -> tuple[Tool, ...]:
    """The tools for one vault. `by_heading`: sections are read and added to by their headings, too; a run's model goes
    by lines, as each argument takes room in every request."""
    return _read(notes, by_heading), _list(notes), _write(notes), _edit(notes), _append(notes, by_heading), _move(notes)


def _read(notes: Notes, by_heading: bool) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        asked = check_readable(arguments.text(call, "path"))
        try:
            path = find_note(notes.vault, asked)
        except NoteGone as error:
            raise ToolRetry(f"{error.message}; vault_list or search_vault finds the right path") from None
        if not may_read(context.role, path, notes.vault.home):
            raise ToolRetry(f"{asked} is for the owner of this vault only")
        data = notes.existing(path)
        total = line_count(data)
        if not data:
            context.shown.show(path, data)
            return ToolOutput(f"{path} is empty", (Cited(path, (1, 1)),))
        if b"\0" in data[:8000]:
            raise ToolRetry(f"{path} is no text")
        first, last = _wanted_lines(call, data, total, path)
        shown, last = _fitting(Note.parse(data).text.split("\n"), first, last)
        if _is_utf8(data) and not shown.endswith("…"):
            context.shown.show(path, data, (first, last))
        head = f"{path}, lines {first}-{last} of {total}"
        head += f" (read on with lines {last + 1}-{total})" if last < total else ""
        untrusted = notes.origin.source(path, data, (first, last))
        return ToolOutput(f"{head}:\n\n{shown}", (Cited(path, (first, last)),), untrusted=untrusted)

    path = {**_PATH, "description": "a path, or the id of a note"}
    more: JsonObject = {"heading": _HEADING} if by_heading else {}
    schema = arguments.schema("path", path=path, lines=arguments.LINES, **more)
    return Tool("vault_read", "Read a note, or some lines of it.", schema, perform, _GROUP, readonly=True)


def _wanted_lines(call: JsonObject, data: bytes, total: int, path: str) -> tuple[int, int]:
    """The first and the last line that a call asks for, by `lines` or by `heading`."""
    heading = arguments.text(call, "heading")
    if not heading:
        return arguments.line_range(call, total, path)
    if "lines" in call:
        raise ToolRetry("give lines or heading, not both")
    return find_section(data, heading, path).lines


def find_section(data: bytes, heading: str, path: str) -> NoteSection:
    """The one section with this heading; raises `ToolRetry` with the headings that the note has."""
    found = sections_named(data, heading)
    if len(found) == 1:
        return found[0]
    shown = [" ".join(each.heading.split()) for each in found or sections(data)]
    named = "; ".join(shown[:_HEADINGS]) + ("; …" if len(shown) > _HEADINGS else "")
    if found:
        raise ToolRetry(f"{path} has {len(found)} sections of that name ({named}): give the lines instead")
    raise ToolRetry(f"{path} has no heading {heading!r}; it has {named or 'none'}")


def _fitting(lines: list[str], first: int, last: int) -> tuple[str, int]:
    """The lines that fit in one result, at least a part of the first, and the number of the last one."""
    room = READ_CHARACTERS
    for number in range(first, last + 1):
        room -= len(lines[number - 1]) + 1
        if room < 0:
            if number == first:
                return lines[first - 1][:READ_CHARACTERS] + "…", first
            return "\n".join(lines[first - 1 : number - 1]), number - 1
    return "\n".join(lines[first - 1 : last]), last


def _list(notes: Notes) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        folder = arguments.text(call, "folder").strip("/")
        start = f"{check_readable(folder)}/" if folder not in {"", "."} else ""
        pattern = arguments.text(call, "pattern").casefold()
        paths = (path for path in notes.vault.note_paths() if may_read(context.role, path, notes.vault.home))
        found = [path for path in paths if path.startswith(start) and _fits(path, pattern)]
        where = f" in {folder}/" if start else ""
        if not found:
            raise ToolRetry(f"there are no notes{where}{f' like {pattern}' if pattern else ''}")
        limit = arguments.number(call, "limit", LISTED)
        more = len(found) - limit
        left = [f"… and {more} more: name a folder or a pattern, or raise limit"] if more > 0 else []
        shown = found[:limit]
        untrusted = notes.origin.named(*shown)
        return ToolOutput(
            "\n".join([f"{len(found)} {'note' if len(found) == 1 else 'notes'}{where}:", *shown, *left]),
            untrusted=untrusted,
        )

    schema = arguments.schema(
        folder={"type": "string", "description": "default the whole vault"},
        pattern={"type": "string", "maxLength": 200, "description": "with * and ?, such as *garden*"},
        limit={"type": "integer", "minimum": 1, "maximum": 2000, "description": f"default {LISTED}"},
    )
    return Tool("vault_list", "List notes by folder or name.", schema, perform, _GROUP, readonly=True)


def _fits(path: str, pattern: str) -> bool:
    plain = path.casefold()
    return not pattern or fnmatchcase(plain, pattern) or fnmatchcase(plain.rpartition("/")[2], pattern)


def _write(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        path = check_text(_target(notes, call))
        before = notes.vault.read(path)
        after = _like(before or b"", arguments.text(call, "content")).encode()
        _check_header(path, before, after, always=True)
        return (Draft(path, before, after),)

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        (draft,) = drafts = plan(call, context)
        before = draft.before
        if before is not None and before != draft.after and not context.shown.is_whole(draft.path, before):
            raise ToolRetry(
                f"{draft.path} exists and you have not read all of it as it is now: vault_read it first, "
                "or change a part with vault_edit or vault_append"
            )
        return notes.commit("vault_write", context, f"vault(write): {draft.path}", drafts)

    schema = arguments.schema(
        "path", "content", path=_PATH, content={"type": "string", "description": "the whole note"}
    )
    description = "Create a note, or replace a whole note that you have read."
    return _writing(notes, "vault_write", description, schema, perform, plan)


def _edit(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        path = check_text(_target(notes, call))
        before = notes.existing(path)
        if not _is_utf8(before):
            raise ToolRetry(f"{path} is not UTF-8 text and cannot be edited")
        text = before.decode()
        old, new = arguments.text(call, "old"), arguments.text(call, "new")
        if old not in text:
            old, new = _like(before, old), _like(before, new)
        times = text.count(old)
        if times != 1:
            raise ToolRetry(
                f"the text to replace occurs {times} times in {path}: give more of the lines around it"
                if times
                else f"the text to replace does not occur in {path}: vault_read it and copy the text exactly"
            )
        after = text.replace(old, new).encode()
        _check_header(path, before, after)
        return (Draft(path, before, after),)

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        (draft,) = drafts = plan(call, context)
        return notes.commit("vault_edit", context, f"vault(edit): {draft.path}", drafts)

    schema = arguments.schema(
        "path",
        "old",
        "new",
        path=_PATH,
        old={"type": "string", "minLength": 1, "description": "text that occurs exactly once in the note"},
        new={"type": "string", "description": "what takes its place"},
    )
    description = "Replace one piece of text in a note."
    return _writing(notes, "vault_edit", description, schema, perform, plan)


def _append(notes: Notes, by_heading: bool) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        path = check_text(_target(notes, call))
        before = notes.vault.read(path)
        data = before or b""
        text = _like(data, arguments.text(call, "text")).encode()
        if section := _section(call, data, path):
            after = add_to_section(data, section, text)
        else:
            newline = b"\r\n" if b"\r\n" in data else b"\n"
            gap = newline if data and not data.endswith(b"\n") else b""
            after = data + gap + text + (b"" if text.endswith(b"\n") else newline)
        _check_header(path, before, after)
        return (Draft(path, before, after),)

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        (draft,) = drafts = plan(call, context)
        text = arguments.text(call, "text").encode()
        if not text.strip():
            raise ToolRetry("there is nothing to append")

        def fill(change: Transaction) -> None:
            change.append(draft.path, text, section=_section(call, draft.before or b"", draft.path))

        return notes.commit("vault_append", context, f"vault(append): {draft.path}", drafts, fill)

    more: JsonObject = {"heading": _HEADING} if by_heading else {}
    schema = arguments.schema("path", "text", path=_PATH, text={"type": "string", "minLength": 1}, **more)
    description = "Add text at the end of a note, on lines of its own; makes the note if it is missing."
    return _writing(notes, "vault_append", description, schema, perform, plan)


def _section(call: JsonObject, data: bytes, path: str) -> bytes:
    """The heading, with its marks, of the section that a call appends to; empty for the end of the note."""
    heading = " ".join(arguments.text(call, "heading").split())
    if not heading:
        return b""
    if len(sections_named(data, heading)):
        return find_section(data, heading, path).heading.encode()
    return (heading if heading.startswith("#") else f"## {heading}").encode()


def _move(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        path, to = (_target(notes, call, name) for name in ("path", "to"))
        if path.rpartition(".")[2] != to.rpartition(".")[2]:
            check_text(check_text(path) and to)
        data = notes.existing(path)
        if notes.vault.read(to) is not None:
            raise ToolRetry(f"{to} exists already: choose another path")
        return Draft(path, data, None), Draft(to, None, data)

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        source, target = drafts = plan(call, context)
        was_whole = context.shown.is_whole(source.path, source.before or b"")

        def fill(change: Transaction) -> None:
            change.move(source.path, target.path)

        result = notes.commit("vault_move", context, f"vault(move): {source.path} to {target.path}", drafts, fill)
        if not was_whole:
            context.shown.forget(target.path)
        return result

    schema = arguments.schema("path", "to", path=_PATH, to=_PATH)
    description = "Give a note another path; never overwrites."
    return _writing(notes, "vault_move", description, schema, perform, plan, ("path", "to"))


def _writing(
    notes: Notes,
    name: str,
    description: str,
    schema: JsonObject,
    perform: Perform,
    plan: PlanDrafts,
    paths: tuple[str, ...] = ("path",),
) -> Tool:
    effect = Effect(lambda call: tuple(arguments.text(call, path) for path in paths), plan, notes.done)
    return Tool(name, description, schema, perform, _GROUP, timeout=0, effect=effect)


def _target(notes: Notes, call: JsonObject, name: str = "path") -> str:
    """The path in an argument, if tools may write there; one where no note is yet must be a name for a new one."""
    path = check_writable(arguments.text(call, name), notes.vault.home)
    return path if notes.vault.read(path) is not None else check(path)


def _like(data: bytes, text: str) -> str:
    """The text with the line endings of the note that it is added to."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if b"\r\n" in data else text


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _check_header(path: str, before: bytes | None, after: bytes, *, always: bool = False) -> None:
    """Raise `ToolRetry` for a header that cannot be parsed, unless the old header could not be parsed either."""
    problem = Note.parse(after).problem if path.endswith(".md") else None
    if problem is None or (not always and before is not None and Note.parse(before).problem is not None):
        return
    raise ToolRetry(f"nothing was written: line {problem.line} of the header of {path}: {problem.message}")
