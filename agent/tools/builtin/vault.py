"""Tools that read and change notes: `vault_read`, `vault_list`, `vault_write`, `vault_edit`, `vault_append`,
`vault_move`.

The rules for reading and writing are left to `note_access`, the commit to `notes`, and concurrent saves of a note by a
person to the vault.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from agent.errors import NoteGone, ToolRetry, UserError
from agent.llm.messages import JsonObject
from agent.markdown.appending import NoteSection, add_to_section, append_block, sections, sections_named
from agent.markdown.note import Note
from agent.texts import Sentence
from agent.tools import arguments
from agent.tools.builtin.attachments import fitting, is_read_by_its_text, read_attached, read_picture
from agent.tools.builtin.notes import Notes, move_drafts
from agent.tools.note_access import check_not_private, check_readable, check_text, check_writable, may_read, may_relink
from agent.tools.seen_notes import line_count
from agent.tools.tool import Cited, Draft, Effect, Perform, PlanDrafts, RunContext, Tool, ToolOutput
from agent.tools.wrappers import rows_that_fit
from agent.vault.find import find_named_note, is_bare_name
from agent.vault.folders import WriteRule
from agent.vault.listing import file_paths
from agent.vault.moving import NoteMove, archive_path, is_put_away, plan_move
from agent.vault.note_names import NoteNames, linking_notes
from agent.vault.pictures import is_bitmap
from agent.vault.store import Vault
from agent.vault.transaction import Transaction
from agent.vault.worktree.paths import check

LISTED = 100
_HEADINGS = 20
_GROUP = frozenset({"fs"})
_PATH: JsonObject = {"type": "string", "minLength": 1}
_HEADING: JsonObject = {"type": "string", "minLength": 1, "maxLength": 300}


def vault_tools(notes: Notes) -> tuple[Tool, ...]:
    """The tools for one vault."""
    return _read(notes), _list(notes), _write(notes), _edit(notes), _append(notes), _move(notes)


def _read(notes: Notes) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        asked = arguments.text(call, "path")
        path = check_readable(_named(notes, asked if is_bare_name(asked) else check_readable(asked)))
        if not may_read(context.role, path, notes.vault.home):
            raise ToolRetry(f"{asked} is for the owner of this vault only")
        data = notes.existing(path)
        total = line_count(data)
        if not data:
            context.seen.add(path, data)
            return ToolOutput(f"{path} is empty", (Cited(path, (1, 1)),))
        if is_read_by_its_text(path, data):
            return read_attached(notes, call, path, data)
        if is_bitmap(path):
            return read_picture(notes, path, data)
        if b"\0" in data[:8000]:
            raise ToolRetry(f"{path} is no text")
        first, last = _wanted_lines(call, data, total, path)
        excerpt, last = fitting(Note.parse(data).text.split("\n"), first, last)
        if _is_utf8(data) and not excerpt.endswith("…"):
            context.seen.add(path, data, (first, last))
        head = f"{path}, lines {first}-{last} of {total}"
        head += f" (read on with lines {last + 1}-{total})" if last < total else ""
        untrusted = notes.origin_of(path, data, (first, last))
        return ToolOutput(f"{head}:\n\n{excerpt}", (Cited(path, (first, last)),), untrusted=untrusted)

    schema = arguments.schema("path", path=_PATH, lines=arguments.LINES, heading=_HEADING)
    return Tool(
        "vault_read",
        "Read a note, PDF or docx; some lines, or a section (`page 3`).",
        schema,
        perform,
        _GROUP,
        readonly=True,
    )


def _named(notes: Notes, name: str) -> str:
    """The path of the note with this path, name or id; raises `ToolRetry`."""
    try:
        return find_named_note(notes.vault, name)
    except NoteGone as error:
        raise ToolRetry(f"{error.message}; vault_list or search_vault finds the right path") from None
    except UserError as error:
        raise ToolRetry(f"{error.message}: {error.hint}") from None


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
    titles = [" ".join(each.heading.split()) for each in found or sections(data)]
    named = "; ".join(titles[:_HEADINGS]) + ("; …" if len(titles) > _HEADINGS else "")
    if found:
        raise ToolRetry(f"{path} has {len(found)} sections of that name ({named}): give the lines instead")
    raise ToolRetry(f"{path} has no heading {heading!r}; it has {named or 'none'}")


def _list(notes: Notes) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        folder = arguments.text(call, "folder").strip("/")
        start = f"{check_readable(folder)}/" if folder not in {"", "."} else ""
        pattern = arguments.text(call, "pattern").casefold()
        linked = arguments.text(call, "links_to")
        known = _linking(notes, linked) if linked else file_paths(notes.vault)
        paths = (path for path in known if may_read(context.role, path, notes.vault.home) and path != context.session)
        found = [path for path in paths if path.startswith(start) and _fits(path, pattern)]
        if linked and not start:
            found = [path for path in found if not _is_record(notes, path)]
        where = f" in {folder}/" if start else ""
        if not found:
            if linked:  # a result like any other, as the note itself was found
                return ToolOutput(f"no file{where}{f' like {pattern}' if pattern else ''} links to {linked}")
            raise ToolRetry(f"there is no file{where}{f' like {pattern}' if pattern else ''}")
        limit = min(arguments.number(call, "limit", LISTED), rows_that_fit(found))
        more = len(found) - limit
        left = [f"… and {more} more, from {found[limit]} on: name a folder or a pattern"] if more > 0 else []
        listed = found[:limit]
        untrusted = notes.origin.named(*listed)
        return ToolOutput(
            "\n".join([f"{len(found)} {'file' if len(found) == 1 else 'files'}{where}:", *listed, *left]),
            untrusted=untrusted,
        )

    schema = arguments.schema(
        folder={"type": "string"},
        pattern={"type": "string", "maxLength": 200, "description": "such as *garden*"},
        links_to={"type": "string", "maxLength": 300, "description": "a note"},
        limit={"type": "integer", "minimum": 1, "maximum": 2000},
    )
    return Tool("vault_list", "List files by folder, by name, or by a link.", schema, perform, _GROUP, readonly=True)


def _linking(notes: Notes, name: str) -> list[str]:
    """The notes that link to the note with this path, name or id."""
    path = check_readable(_named(notes, name))
    return sorted(linking_notes(notes.vault, path, NoteNames.of(notes.vault.note_paths())))


def _is_record(notes: Notes, path: str) -> bool:
    """True for what the program writes down of its own work, such as a conversation."""
    return notes.vault.home.write_rule(path) is WriteRule.PROGRAM


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
        if before is not None and before != draft.after and not context.seen.is_whole(draft.path, before):
            raise ToolRetry(
                f"{draft.path} exists and you have not read all of it as it is now: vault_read it first, "
                "or change a part with vault_edit or vault_append"
            )
        return notes.commit("vault_write", context, f"vault(write): {draft.path}", drafts)

    schema = arguments.schema("path", "content", path=_PATH, content={"type": "string"})
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
        old={"type": "string", "minLength": 1, "description": "text that occurs exactly once"},
        new={"type": "string"},
    )
    description = "Replace one piece of text in a note."
    return _writing(notes, "vault_edit", description, schema, perform, plan)


def _append(notes: Notes) -> Tool:
    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        path = check_text(_target(notes, call))
        before = notes.vault.read(path)
        data = before or b""
        text = _like(data, arguments.text(call, "text")).encode()
        if section := _section(call, data, path):
            after = add_to_section(data, section, text)
        else:
            after = append_block(data, text)
        _check_header(path, before, after)
        return (Draft(path, before, after),)

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        (draft,) = drafts = plan(call, context)
        text = arguments.text(call, "text").encode()
        if not text.strip():
            raise ToolRetry("there is nothing to append")

        def fill(change: Transaction) -> None:
            change.append(draft.path, text, section=_section(call, draft.before or b"", draft.path), is_block=True)

        return notes.commit("vault_append", context, f"vault(append): {draft.path}", drafts, fill)

    schema = arguments.schema("path", "text", path=_PATH, text={"type": "string", "minLength": 1}, heading=_HEADING)
    description = "Add blocks at the end of a note or of a section; makes what is missing."
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
    def moved(call: JsonObject, context: RunContext) -> NoteMove:
        path = _target(notes, call)
        to = _target(notes, call, "to") if "to" in call else _put_away(notes, path)
        if path.rpartition(".")[2] != to.rpartition(".")[2]:
            check_text(check_text(path) and to)
        data = notes.existing(path)
        if notes.vault.read(to) is not None:
            raise ToolRetry(f"{to} exists already: choose another path")
        return plan_move(notes.vault, path, to, data, lambda each: may_relink(each, notes.vault.home, context.writes))

    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        return move_drafts(moved(call, context))

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        move = moved(call, context)
        was_whole = context.seen.is_whole(move.path, move.before)
        subject = Sentence("vault(move): {path} to {to}", path=move.path, to=move.to)
        why = arguments.text(call, "why").strip()
        result = notes.commit("vault_move", context, subject, move_drafts(move), move.fill, body=why)
        if not was_whole:
            context.seen.forget(move.to)
        left = [path for path in move.left if not _is_record(notes, path)]
        return replace(result, text="\n".join([result.text, *_links_of(move, left, notes.vault)]))

    schema = arguments.schema("path", path=_PATH, to=_PATH, why={"type": "string", "maxLength": 500})
    description = "Move a note; links follow. Without `to`: into the archive, as nothing is deleted. Never overwrites."
    return _writing(notes, "vault_move", description, schema, perform, plan, ("path", "to"))


def _put_away(notes: Notes, path: str) -> str:
    """The path in the archive for a note; raises `ToolRetry` for one that is there already."""
    if is_put_away(notes.vault, path):
        raise ToolRetry(f"{path} is in the archive already")
    return check_writable(archive_path(notes.vault, path), notes.vault.home)


def _links_of(move: NoteMove, left: Sequence[str], vault: Vault) -> Iterator[str]:
    """Lines about the links to a note that was moved; `left` are the notes in which they are as they were."""
    if not vault.home.row(move.to).searched:
        yield "search and recall do not look there any more; vault_undo brings it back"
    elif is_put_away(vault, move.to):
        yield "it is in the person's own archive, which search and recall still look into; vault_undo brings it back"
    if move.edits:
        how = "now lead into the archive" if is_put_away(vault, move.to) else "follow"
        yield f"links to it {how} in {', '.join(path for path, _, _ in move.edits)}"
    if left:
        yield f"not for tools to change, and left with the old link: {', '.join(left)}"
    fitting = [path for path in move.fitting if vault.home.write_rule(path) is not WriteRule.PROGRAM]
    if fitting:
        yield f"links to it lead there as they are written in {', '.join(fitting)}"
    if not move.edits and not left and not fitting:
        yield "no note of the person's linked to it"


def _writing(
    notes: Notes,
    name: str,
    description: str,
    schema: JsonObject,
    perform: Perform,
    plan: PlanDrafts,
    paths: tuple[str, ...] = ("path",),
) -> Tool:
    effect = Effect(lambda call: tuple(_with_ending(call, path) for path in paths if path in call), plan, notes.done)
    return Tool(name, description, schema, perform, _GROUP, timeout=0, effect=effect)


def _target(notes: Notes, call: JsonObject, name: str = "path") -> str:
    """The path in an argument, if tools may write there; one where no note is yet must be a name for a new one. A write
    takes no note by its name: what is asked about is the path, and a name may mean another note a moment later."""
    asked = arguments.text(call, name)
    if name == "path" and is_bare_name(asked):
        raise ToolRetry(f"nothing was written: the path of {asked} is {_named(notes, asked)}")
    path = check_not_private(notes.vault, check_writable(_with_ending(call, name), notes.vault.home))
    return path if notes.vault.read(path) is not None else check(path)


def _with_ending(call: JsonObject, name: str) -> str:
    """The path in an argument; that of a note may lack its ending, as a link to it does."""
    asked = arguments.text(call, name)
    folder, slash, last = asked.rpartition("/")
    return f"{asked}.md" if name == "path" and folder and slash and last and "." not in last else asked


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
