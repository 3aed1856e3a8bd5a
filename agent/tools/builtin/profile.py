"""The tool `profile`: reads, searches and changes the notes about the person.

They write through `memory.profile.changes` only: a line without the person's own words as evidence is refused, and a
line that the person wrote stays. What is put away goes to `archive/`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.errors import ToolFailed, ToolRetry
from agent.llm.messages import JsonObject
from agent.memory.blame import person_lines
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.profile.changes import Consent, ProfileChange, Proposed, Writing, log_row, propose_change
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.load import first_note, last_updated, load_profile, profile_figures
from agent.memory.profile.profile_file import (
    CHANGELOG,
    ProfileFile,
    note_name,
    parse_profile,
    search_profile,
    whole_summary,
)
from agent.texts import Language, Sentence, text
from agent.tools import arguments
from agent.tools.builtin.notes import Notes
from agent.tools.tool import Cited, Draft, Effect, Perform, RunContext, Tool, ToolOutput
from agent.vault.change import Append, Create, Delete, Edit, Request
from agent.vault.folders import ARCHIVE, PROFILE
from agent.vault.store import Vault

_GROUP = frozenset({"profile"})
_TEXT: JsonObject = {"type": "string"}
_FILE: JsonObject = {**_TEXT, "description": "such as 31-preferences.md"}
_QUOTES: JsonObject = {
    "type": "array",
    "items": {"type": "object"},
    "description": "each a note and a quote of the person's own words in it: {note, quote}",
}
_LINE: JsonObject = {**_TEXT, "maxLength": 500}
_FOUND = 10
"""The most lines that a search finds."""


@dataclass(frozen=True, slots=True)
class ProfileTools:
    """The actions of the tool, for one vault; `consent` gives the setting `profile.sensitive`."""

    notes: Notes
    language: Language
    consent: Consent

    def tools(self) -> tuple[Tool, ...]:
        """The seven actions."""
        schema, line = arguments.schema, {"line": _LINE, "evidence": _QUOTES}
        more: JsonObject = {"field": _TEXT, "section": _TEXT, "replaces": _TEXT}
        return (
            self._reader("list", "the notes about the person", schema(), self._list),
            self._reader("read", "one of these notes", schema("file", file=_FILE), self._read),
            self._reader("search", "their lines", schema("query", query=_TEXT), self._search),
            self._reader("summary", "of all that is known", schema(), self._summary),
            self._writer(
                "write",
                "one line, as the value of `field`, below `section` or in place of your line `replaces`",
                schema("file", "line", "evidence", file=_FILE, **line, **more),
            ),
            self._writer(
                "create",
                "a new note in topics/ with its first line",
                schema("file", "line", "evidence", file=_FILE, **line),
            ),
            self._deleter(),
        )

    def _reader(self, action: str, description: str, schema: JsonObject, perform: Perform) -> Tool:
        return Tool(f"profile.{action}", description, schema, perform, _GROUP, readonly=True, seldom=True)

    def _list(self, call: JsonObject, context: RunContext) -> ToolOutput:
        return self._output([format_profile(self.notes.vault)], self._files(), "there is no profile yet")

    def _read(self, call: JsonObject, context: RunContext) -> ToolOutput:
        name = self._name(call)
        path = self.notes.vault.home.at(PROFILE + name)
        data = self.notes.vault.own_version(path)
        if data is None:
            raise ToolRetry(f"there is no note {name}; profile (list) names them")
        context.seen.add(path, data)
        untrusted = self.notes.origin.source(path, data)
        lines = (1, data.count(b"\n") + 1)
        return ToolOutput(data.decode("utf-8", "replace"), (Cited(path, lines),), untrusted=untrusted)

    def _search(self, call: JsonObject, context: RunContext) -> ToolOutput:
        hits = search_profile(self._files(), arguments.text(call, "query"), _FOUND)
        lines = [f"- {hit.text} ({hit.file.path})" for hit in hits]
        return self._output(lines, [hit.file for hit in hits], "the profile says nothing about this")

    def _summary(self, call: JsonObject, context: RunContext) -> ToolOutput:
        files = self._files()
        return self._output([whole_summary(files)], files, "nothing is filled yet")

    def _writer(self, action: str, description: str, schema: JsonObject) -> Tool:
        tool, in_topics = f"profile.{action}", action == "create"

        def proposed(call: JsonObject, context: RunContext) -> Proposed:
            found = propose_change(self._writing(context), self._change(call, in_topics))
            if not found.requests:
                why = "; ".join(each.why for each in found.refused) or "nothing has to change"
                raise ToolRetry(f"not written: {why}")
            return found

        def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
            return self._drafts(proposed(call, context).requests)

        def perform(call: JsonObject, context: RunContext) -> ToolOutput:
            found = proposed(call, context)
            name = self._change(call, in_topics).note
            done = self._commit(tool, context, f"profile(write): {name}", found.requests)
            asked = "".join(f"\nthe person is asked in {path}" for path in found.asked)
            return ToolOutput(f"{done.text}{asked}", done.sources, done.is_changed)

        def paths(call: JsonObject) -> tuple[str, ...]:
            return self._paths(self._change(call, in_topics).note)

        effect = Effect(paths, plan, self.notes.done)
        return Tool(tool, description, schema, perform, _GROUP, timeout=0, effect=effect, seldom=True)

    def _deleter(self) -> Tool:
        def requests(call: JsonObject, context: RunContext) -> tuple[Request, ...]:
            return self._put_away(self._name(call), arguments.text(call, "reason"), context)

        def perform(call: JsonObject, context: RunContext) -> ToolOutput:
            subject = Sentence("profile(put away): {name}", name=self._name(call))
            return self._commit("profile.delete", context, subject, requests(call, context))

        effect = Effect(
            lambda call: self._paths(self._name(call)),
            lambda call, context: self._drafts(requests(call, context)),
            self.notes.done,
        )
        schema = arguments.schema("file", file=_FILE, reason=_TEXT)
        return Tool(
            "profile.delete", "put one into the archive", schema, perform, _GROUP, timeout=0, effect=effect, seldom=True
        )

    def _put_away(self, name: str, reason: str, context: RunContext) -> tuple[Request, ...]:
        vault = self.notes.vault
        path = vault.home.at(PROFILE + name)
        data = vault.read(path)
        if data is None or not parse_profile(path, name, data).filled:
            raise ToolRetry(f"{name} says nothing; there is nothing to put away")
        if not context.is_attended and self._has_lines_of_person(path, name, data):
            raise ToolFailed("the person has written in this note, so only they can have it put away")
        writing = self._writing(context)
        stem = PurePosixPath(name).stem
        copy = f"{ARCHIVE}{PROFILE}{stem}-{writing.now:%Y-%m-%d-%H%M%S}.md"
        what = text("profile.put_away", self.language)
        row = log_row(writing, name, " · ".join(filter(None, (what, " ".join(reason.split())))), ())
        log = Append(vault.home.at(PROFILE + CHANGELOG), f"{row}\n".encode(), first_note(CHANGELOG, self.language))
        return (Create(vault.home.at(copy), data), Delete(path, data), log)

    def _has_lines_of_person(self, path: str, name: str, data: bytes) -> bool:
        file = parse_profile(path, name, data)
        theirs = person_lines(self.notes.vault, path, data)
        filled = [each.line for each in file.fields if each.value] + [each.line for each in file.statements]
        return any(theirs[line - 1] for line in filled if line <= len(theirs))

    def _change(self, call: JsonObject, in_topics: bool) -> ProfileChange:
        rows = call.get("evidence")
        evidence = tuple(
            Evidence(arguments.text(each, "note").strip("[] ").removesuffix(".md"), arguments.text(each, "quote"),
                     arguments.text(each, "date"))
            for each in (rows if isinstance(rows, list | tuple) else ())
            if isinstance(each, dict) or hasattr(each, "items")
        )  # fmt: skip
        topic = arguments.text(call, "file").strip().lower().replace(" ", "-").removeprefix("topics/")
        return ProfileChange(
            (note_name(f"topics/{topic}") or "topics/") if in_topics else self._name(call),
            arguments.text(call, "line"),
            evidence,
            field=arguments.text(call, "field").strip(),
            heading=arguments.text(call, "section").strip(),
            replaces=arguments.text(call, "replaces").strip(),
        )

    def _name(self, call: JsonObject) -> str:
        file = arguments.text(call, "file")
        name = note_name(file)
        if not name:
            raise ToolRetry(f"{file} is no note of a profile; profile (list) names them")
        return name

    def _writing(self, context: RunContext) -> Writing:
        vault = self.notes.vault
        is_forgotten = load_tombstones(vault).is_forgotten
        return Writing(vault, self.language, vault.clock.now(), is_forgotten, self.consent, context.actor)

    def _files(self) -> tuple[ProfileFile, ...]:
        return load_profile(self.notes.vault)

    def _paths(self, name: str) -> tuple[str, ...]:
        return tuple(self.notes.vault.home.at(PROFILE + each) for each in (name, CHANGELOG))

    def _output(self, lines: Sequence[str], files: Sequence[ProfileFile], nothing: str) -> ToolOutput:
        """The lines, with the notes that they come from; names the origin of text that others wrote in them."""
        vault, untrusted = self.notes.vault, ""
        for each in files:
            untrusted = untrusted or self.notes.origin.source(each.path, vault.read(each.path) or b"")
        sources = tuple(Cited(path, (1, 1)) for path in dict.fromkeys(each.path for each in files))
        return ToolOutput("\n".join(filter(None, lines)) or nothing, sources, untrusted=untrusted)

    def _commit(self, tool: str, context: RunContext, subject: str, requests: Sequence[Request]) -> ToolOutput:
        drafts = self._drafts(requests)
        return self.notes.commit(tool, context, subject, drafts, lambda change: change.requests.extend(requests))

    def _drafts(self, requests: Sequence[Request]) -> tuple[Draft, ...]:
        """The requests as drafts, without the questions, which only the program writes."""
        found: list[Draft] = []
        for each in requests:
            before = self.notes.vault.read(each.path)
            match each:
                case Create():
                    found.append(Draft(each.path, None, each.data))
                case Edit():
                    found.append(Draft(each.path, each.base, each.data))
                case Append():
                    found.append(Draft(each.path, before, (before if before is not None else each.head) + each.text))
                case Delete():
                    found.append(Draft(each.path, before, None))
        home = self.notes.vault.home
        return tuple(each for each in found if home.holds(each.path, PROFILE, ARCHIVE))


def format_profile(vault: Vault) -> str:
    """The notes about the person, each on one line, below how far all are filled; empty if there are none."""
    figures, changed = profile_figures(vault), last_updated(vault)
    head = (
        f"{figures.filled_notes} of {figures.notes} notes say something, {figures.filled_fields} of "
        f"{figures.fields} fields are filled, {len(figures.open_questions)} questions wait for the person"
    )
    return "\n".join([head, *(_format_file(each, changed) for each in load_profile(vault))]) if figures.notes else ""


def _format_file(file: ProfileFile, changed: Mapping[str, datetime]) -> str:
    day = f", changed {changed[file.name]:%Y-%m-%d}" if file.name in changed else ""
    sure = f", confidence {file.confidence:.2g}" if file.filled else ""
    filled = len(file.fields) - file.empty_fields
    return (
        f"- {file.path}: layer {file.layer}, {file.title}, {filled} of {len(file.fields)} fields, "
        f"{len(file.statements)} lines{sure}{day}"
    )
