"""`human_ask`: writes a question to the person as a note; the answer is a ticked option or text below it.

The first call writes the note and pauses the run; the same call, repeated when the run continues, returns the answer.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from agent.clock import Clock
from agent.errors import NoteExists, QuestionAsked, ToolFailed, ToolRetry
from agent.escape import escape
from agent.llm.messages import JsonObject
from agent.markdown import blocks, tasks
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.memory.entry import slug
from agent.texts import Language, in_all_languages, text
from agent.tools import arguments
from agent.tools.arguments import canonical
from agent.tools.tool import Cited, RunContext, Tool, ToolOutput
from agent.vault.change import Stamp
from agent.vault.folders import QUESTIONS
from agent.vault.store import Vault

ANSWERED = "the person answered: "
"""What a result begins with that has the person's answer."""
_ANSWER = re.compile(rf"\n## (?:{'|'.join(in_all_languages('question.answer'))})")
"""The heading above the person's text, in any language."""
_HIDING = re.compile(r"[<>`$\[\]]|%%")


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
            options={
                "type": "array",
                "maxItems": 12,
                "items": {"type": "string", "minLength": 1, "maxLength": 200},
                "description": "answers to choose from; the person may also write another",
            },
            why={"type": "string", "maxLength": 300, "description": "why it is asked"},
            fallback={"type": "string", "maxLength": 300, "description": "what you do without an answer"},
        )
        description = "Ask the person one question when the task cannot go on without the answer."
        return Tool("human_ask", description, schema, self._perform, frozenset({"human"}), timeout=0)

    def _perform(self, call: JsonObject, context: RunContext) -> ToolOutput:
        question = _harmless(self.vault.masked(arguments.text(call, "question")))
        options = tuple(dict.fromkeys(_option(self.vault.masked(each)) for each in arguments.texts(call, "options")))
        if not question.strip():
            raise ToolRetry("the question is empty")
        key = sha256(f"{context.run} {self.vault.masked(canonical(call))}".encode()).hexdigest()[:8]
        path = self._asked(context.run, key)
        if path is None:
            reason, fallback = (_line(self.vault.masked(str(call.get(name, "")))) for name in ("why", "fallback"))
            path = self._ask(question, options, key, context, (reason, fallback))
        else:
            data = self.vault.read(path) or b""
            answer = parse_answer(self.vault.own_version(path) or b"", options)
            if answer:
                self._settle(path, data, "answered", context)
                return ToolOutput(f"{ANSWERED}{answer}", (Cited(path, (1, data.count(b"\n") + 1)),))
            expires = Note.parse(data).header.get("expires")
            if isinstance(expires, type(self.clock.now())) and self.clock.now() >= expires:
                self._settle(path, data, "expired", context)
                said = Note.parse(data).string("fallback")
                instead = f"do what you said: {said}" if said else "go on without the answer"
                raise ToolFailed(f"the person did not answer in time; {instead}, or say what is missing")
        waits, hint = text("question.waits", self.language, path=path), text("question.hint", self.language)
        raise QuestionAsked(waits, path=path, hint=hint)

    def _asked(self, run: str, key: str) -> str | None:
        """The note with this question of this run; in older notes the end of the name says which question it is."""
        for path in self.vault.note_paths():
            if self.vault.home.holds(path, QUESTIONS):
                note = Note.parse(self.vault.read(path) or b"")
                if note.string("run") == run and (note.string("call") == key or path.endswith(f"-{key}.md")):
                    return path
        return None

    def _ask(
        self, question: str, options: tuple[str, ...], key: str, context: RunContext, about: tuple[str, str] = ("", "")
    ) -> str:
        """Write the note; `about` is why it is asked, and what is done without an answer."""
        now = self.clock.now().replace(microsecond=0)
        header: dict[str, Value] = {
            "id": self.clock.new_id(),
            "type": "question",
            "created": now,
            "status": "open",
            "run": context.run,
            "call": key,
            "session": f"[[{context.session.removesuffix('.md')}]]" if context.session else "",
            "expires": now + timedelta(hours=self.hours),
        }
        reason, fallback = about
        header |= {"fallback": fallback} if fallback else {}
        if context.taint:
            header["untrusted"] = [" ".join(source.split())[:200] for source in context.taint.sources]
        first, _, rest = question.strip().partition("\n")
        parts = [f"# {' '.join(first.split())}"]
        parts += ["\n".join(f"> {line}".rstrip() for line in rest.strip("\n").split("\n"))] if rest.strip() else []
        parts += [text("question.why", self.language, why=reason)] if reason else []
        parts += [text("question.fallback", self.language, fallback=fallback)] if fallback else []
        parts += ["\n".join(f"- [ ] {option}" for option in options)] if options else []
        note = Note.compose(header, "\n\n".join(parts) + f"\n\n{answer_heading(self.language)}\n\n")
        stamp = Stamp(context.actor, tool="human_ask", session=context.session)
        asks = f"Asked in run {context.run}."
        for path in self._paths(question, key, now):
            with suppress(NoteExists):
                with self.vault.transaction(f"question(ask): {first}", stamp, body=asks, masked=True) as change:
                    change.create(path, note.data)
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
        stamp = Stamp(context.actor, tool="human_ask", session=context.session)
        where = f"[[{context.session.removesuffix('.md')}]]" if context.session else f"`{context.run}`"
        result = text(f"question.result_{status}", self.language, at=self.clock.now(), where=where)
        fallback = note.string("fallback") if status == "expired" else ""
        result = f"{result} {text('question.fallback', self.language, fallback=fallback)}" if fallback else result
        above, _ = split_answer(note.body)
        body = f"{above.rstrip()}\n\n→ {result}\n\n{note.body[len(above) :].lstrip()}"
        with self.vault.transaction(f"question({status}): {path}", stamp) as change:
            change.edit(path, data, note.with_body(body).with_key("status", status).data)


def parse_answer(data: bytes, options: tuple[str, ...]) -> str:
    """The ticked options and the text below `## Answer`; empty without an answer."""
    above, written = split_answer(Note.parse(data).body.replace("\r\n", "\n"))
    done = [task.text for task in tasks.find_tasks(blocks.parse_body(above)) if task.done and task.text in options]
    return "; ".join([*done, *filter(None, [(written or "").strip()])])


def answer_heading(language: Language) -> str:
    """The heading above the answer."""
    return f"## {text('question.answer', language)}"


def split_answer(body: str) -> tuple[str, str | None]:
    """The question part, and the text below the answer heading (None without that heading)."""
    found = _ANSWER.search(body)
    return (body[: found.start()], body[found.end() :]) if found else (body, None)


def _harmless(words: str) -> str:
    """The text without markup that could hide the boxes below it."""
    return _HIDING.sub(" ", escape(words))


def _line(words: str) -> str:
    """The words on one line, without markup that could hide the boxes below them."""
    return " ".join(_harmless(words).split())


def _option(words: str) -> str:
    """The option in the form in which it is parsed from a checkbox."""
    return " ".join(escape(" ".join(_HIDING.sub(" ", words).replace("^", " ").split())).split())
