"""`human_ask`: writes a question to the person as a note; the answer is a ticked option or text below it.

The first call writes the note and pauses the run; the same call, repeated when the run continues, returns the answer.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256

from agent.asking.questions.notes import ANSWERED_AT, QuestionDraft, closed_note, format_question, parse_answer
from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import NoteExists, QuestionAsked, ToolFailed, ToolRetry
from agent.escape import escape
from agent.llm.messages import JsonObject
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.memory.entry import slug
from agent.texts import Language, text
from agent.tools import arguments
from agent.tools.arguments import canonical
from agent.tools.tool import Cited, RunContext, Tool, ToolOutput
from agent.vault.change import Stamp
from agent.vault.folders import QUESTIONS
from agent.vault.history.find import commits
from agent.vault.store import Vault

ANSWERED = "the person answered: "
"""What a result begins with that has the person's answer."""
_TOOL = "human_ask"
_HIDING = re.compile(r"[<>`$\[\]]|%%")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of one vault; one stays open for `hours`, in a note in `language`."""

    vault: Vault
    clock: Clock
    hours: float
    language: Language = "en"

    def tool(self) -> Tool:
        """The tool `human_ask`."""
        schema = arguments.schema(
            "question",
            question={"type": "string", "minLength": 1, "maxLength": 4000},
            options={"type": "array", "maxItems": 12, "items": {"type": "string", "minLength": 1, "maxLength": 200}},
            why={"type": "string", "maxLength": 300},
            fallback={"type": "string", "maxLength": 300, "description": "what you do without an answer"},
        )
        description = "Ask the person one question without whose answer the task cannot go on."
        return Tool(_TOOL, description, schema, self._perform, frozenset({"human"}), timeout=0)

    def _perform(self, call: JsonObject, context: RunContext) -> ToolOutput:
        question = _harmless(self.vault.masked(arguments.text(call, "question")))
        options = tuple(dict.fromkeys(_option(self.vault.masked(each)) for each in arguments.texts(call, "options")))
        if not question.strip():
            raise ToolRetry("the question is empty")
        key = sha256(f"{context.run} {self.vault.masked(canonical(call))}".encode()).hexdigest()[:8]
        path = self._asked(context.run, key)
        if path is None and context.resumed and self._was_asked(context.run, key):
            raise _unanswered(
                "the person has thrown the question away without an answer", str(call.get("fallback", ""))
            )
        if path is None:
            reason, fallback = (_line(self.vault.masked(str(call.get(name, "")))) for name in ("why", "fallback"))
            path = self._ask(question, options, key, context, (reason, fallback))
        elif (answer := self._answer_in(path, context)) is not None:
            return answer
        waits, hint = text("question.waits", self.language, path=path), text("question.hint", self.language)
        raise QuestionAsked(waits, path=path, hint=hint)

    def _answer_in(self, path: str, context: RunContext) -> ToolOutput | None:
        """The answer in the note of a question; None while there is none. Raises `ToolFailed` once its time is over."""
        data = self.vault.read(path) or b""
        if answer := parse_answer(self.vault.own_version(path) or b""):
            self._settle(path, data, "answered", context)
            return ToolOutput(f"{ANSWERED}{answer}", (Cited(path, (1, data.count(b"\n") + 1)),))
        expires = Note.parse(data).header.get("expires")
        if isinstance(expires, datetime) and self.clock.now() >= expires:
            self._settle(path, data, "expired", context)
            raise _unanswered("the person did not answer in time", Note.parse(data).string("fallback") or "")
        return None

    def _asked(self, run: str, key: str) -> str | None:
        """The note with this question of this run; in older notes the end of the name says which question it is."""
        for path in self.vault.note_paths():
            if self.vault.home.holds(path, QUESTIONS):
                note = Note.parse(self.vault.read(path) or b"")
                if note.string("run") == run and (note.string("call") == key or path.endswith(f"-{key}.md")):
                    return path
        return None

    def _was_asked(self, run: str, key: str) -> bool:
        """True if this question of this run was asked, whatever has become of its note: a commit names both, by this
        version or an earlier one."""
        made = commits(self.vault, path=self.vault.home.at(QUESTIONS).rstrip("/"))
        return any({run, key} <= {*_WORD.findall(each.body)} for each in made)

    def _ask(
        self, question: str, options: tuple[str, ...], key: str, context: RunContext, about: tuple[str, str] = ("", "")
    ) -> str:
        """Write the note; `about` is why it is asked, and what is done without an answer."""
        now = self.clock.now().replace(microsecond=0)
        more: dict[str, Value] = {
            "run": context.run,
            "call": key,
            "session": f"[[{context.session.removesuffix('.md')}]]" if context.session else "",
        }
        if context.taint:
            more["untrusted"] = [" ".join(source.split())[:200] for source in context.taint.sources]
        until = now + timedelta(hours=self.hours)
        draft = QuestionDraft(question, until, *about, options, patience="run", more=more)
        data = format_question(draft, self.clock.new_id(), now, self.language)
        first = question.strip().partition("\n")[0]
        stamp, hold = _stamp(context), bool(context.session)
        asks = f"{context.run} {key}"
        for path in self._paths(question, key, now):
            with suppress(NoteExists):
                with self.vault.transaction(
                    f"question(ask): {first}", stamp, body=asks, masked=True, hold=hold
                ) as change:
                    change.create(path, data)
                return path
        raise ToolFailed("there is a note with this question already")

    def _paths(self, question: str, key: str, now: datetime) -> Iterator[str]:
        """Paths for the note, the plainer one first; not the plain one while changes wait that may take it."""
        name = "-".join(filter(None, (f"{now:%Y-%m-%d}", slug(question))))
        for each in (f"{name}-{key}",) if self.vault.queued else (name, f"{name}-{key}"):
            yield self.vault.home.at(f"{QUESTIONS}{each}.md")

    def _settle(self, path: str, data: bytes, status: str, context: RunContext) -> None:
        note = Note.parse(data)
        if note.problem is not None or note.string("status") == status:
            return
        where = f"[[{context.session.removesuffix('.md')}]]" if context.session else f"`{context.run}`"
        result = text(f"question.result_{status}", self.language, at=self.clock.now(), where=where)
        fallback = note.string("fallback") if status == "expired" else ""
        result = f"{result} {text('question.fallback', self.language, fallback=fallback)}" if fallback else result
        closed = closed_note(note, status, result)
        if status == "answered":
            closed = closed.with_key(ANSWERED_AT, self.clock.now().replace(microsecond=0))
        subject, hold = f"question({status}): {path}", bool(context.session)
        with self.vault.transaction(subject, _stamp(context), hold=hold) as change:
            change.edit(path, data, closed.data)


def _stamp(context: RunContext) -> Stamp:
    """The stamp of a note that is committed with the run."""
    return Stamp(context.actor, context.run if context.session else "", _TOOL, context.session)


def _unanswered(why: str, fallback: str) -> ToolFailed:
    """The error that lets a run go on without an answer."""
    instead = f"do what you said: {fallback}" if fallback else "go on without the answer"
    return ToolFailed(f"{why}; {instead}, or say what is missing")


def _harmless(words: str) -> str:
    """The text without markup that could hide the boxes below it."""
    return _HIDING.sub(" ", escape(words))


def _line(words: str) -> str:
    """The words on one line, without markup that could hide the boxes below them."""
    return " ".join(_harmless(words).split())


def _option(words: str) -> str:
    """The option in the form in which it is parsed from a checkbox."""
    return " ".join(escape(" ".join(_HIDING.sub(" ", words).replace("^", " ").split())).split())
