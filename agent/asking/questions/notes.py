"""The notes in `questions/`: their form, and how they count as the person's."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from agent.clock import in_clock_zone
from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown import blocks, tasks
from agent.markdown.note import Note
from agent.markdown.tasks import TaskBox
from agent.markdown.yaml_write import Value
from agent.texts import Language, in_all_languages, text
from agent.vault.change import Edit
from agent.vault.folders import ARCHIVE, QUESTIONS
from agent.vault.store import Vault

Patience: TypeAlias = Literal["low", "high", "run"]
"""How urgent a question is: `low`, `high`, or that a `run` waits for it."""
RESULT = "→ "
"""What a line begins with in which the program says what became of a question."""
_ANSWER = re.compile(rf"\n#{{1,6}} ?(?:{'|'.join(map(re.escape, in_all_languages('question.answer')))})\b[:：]?")
"""The heading above the person's text, in any language and of any depth: some editors change it."""
_UNTIL = tuple(each.partition("{")[0] for key in ("low", "high", "run") for each in in_all_languages(f"question.{key}"))
"""The beginnings of the last sentence that the program writes before the boxes."""


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """A question to be asked. All words are to do nothing in an editor, and each but `question` and `about` is on one
    line.

    `question` may have more lines than its title: they are quoted. `about` are paragraphs of Markdown. `more` are keys
    of the header that only its asker knows.
    """

    question: str
    expires: datetime
    why: str = ""
    fallback: str = ""
    options: Sequence[str] = ()
    about: Sequence[str] = ()
    patience: Patience = "low"
    more: Mapping[str, Value] = field(default_factory=dict)


def format_question(draft: QuestionDraft, id: str, created: datetime, language: Language) -> bytes:
    """The note that asks."""
    header: dict[str, Value] = {"id": id, "type": "question", "created": created, "status": "open", **draft.more}
    header |= {"urgency": draft.patience} if draft.patience != "run" else {}
    header |= {"fallback": draft.fallback} if draft.fallback else {}
    header["expires"] = until = in_clock_zone(draft.expires, created)
    first, _, rest = draft.question.strip().partition("\n")
    parts = [f"# {' '.join(first.split())}"]
    parts += ["\n".join(f"> {line}".rstrip() for line in rest.strip("\n").split("\n"))] if rest.strip() else []
    parts += [*draft.about]
    parts += [text("question.why", language, why=draft.why)] if draft.why else []
    parts += [text("question.fallback", language, fallback=draft.fallback)] if draft.fallback else []
    parts.append(text(f"question.{draft.patience}", language, until=until))
    parts += ["\n".join(f"- [ ] {option}" for option in draft.options)] if draft.options else []
    parts.append(answer_heading(language))
    return Note.compose(header, "\n\n".join(parts) + "\n\n").data


def answer_heading(language: Language) -> str:
    """The heading above the answer."""
    return f"## {text('question.answer', language)}"


def split_answer(body: str) -> tuple[str, str | None]:
    """The question part, and the text below the answer heading (None without that heading)."""
    found = _ANSWER.search(body)
    return (body[: found.start()], body[found.end() :]) if found else (body, None)


def without_patience(question: str) -> str:
    """What is asked, without the line that says how long the answer may take."""
    return "\n".join(line for line in question.split("\n") if not line.startswith(_UNTIL))


def boxes_in(body: str) -> tuple[TaskBox, ...]:
    """The boxes of the question part of a note's body; not those of a quotation."""
    above, _ = split_answer(body.replace("\r\n", "\n"))
    return tuple(each for each in tasks.find_tasks(blocks.parse_body(above)) if not each.quoted)


def parse_answer(data: bytes) -> str:
    """What the person has answered in a note, empty without an answer: the ticked boxes, as they are worded now, and
    what they wrote below the heading, or between the boxes and it."""
    note = Note.parse(data)
    body = note.body.replace("\r\n", "\n")
    above, below = split_answer(body)
    ticked = [each.text for each in boxes_in(body) if each.done and each.text]
    beside = _written_above(above) if "expires" in note.header else ""  # else it is of sync, and shows versions there
    return "; ".join([*ticked, *filter(None, (beside, (below or "").strip()))])


def _written_above(above: str) -> str:
    """What stands below the last line of the form, where people write who overlook the heading; in notes of earlier
    versions that line is the last box."""
    lines = above.split("\n")
    boxes = {each.line - 1 for each in tasks.find_tasks(blocks.parse_body(above))}
    of_form = [at for at, line in enumerate(lines) if at in boxes or line.startswith(_UNTIL)]
    if not of_form:
        return ""
    left = (line for line in lines[of_form[-1] + 1 :] if not line.startswith(RESULT))
    return "\n".join(left).strip()


def closed_note(note: Note, status: str, result: str) -> Note:
    """The note with what became of its question, above the heading of the answer."""
    above, _ = split_answer(note.body)
    body = f"{above.rstrip()}\n\n{RESULT}{result}\n\n{note.body[len(above) :].lstrip()}"
    return note.with_body(body).with_key("status", status)


ANSWERED_AT = "answered"
"""The key of a question's header with the time at which its answer was taken."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A note that asks or has asked."""

    path: str
    note: Note
    is_put_away: bool = False

    @property
    def is_open(self) -> bool:
        """True while it waits for an answer, or for what follows from one."""
        return not self.is_put_away and self.note.string("status") == "open"

    @property
    def run(self) -> str:
        """The run that waits, or has waited, for the answer; empty for a question that nothing waits for."""
        return self.note.string("run") or ""

    @property
    def is_unprompted(self) -> bool:
        """True for a question that nothing waits for: no run, and no sync."""
        return not self.run and "expires" in self.note.header

    @property
    def title(self) -> str:
        """The question in one line."""
        first = self.note.body.strip().partition("\n")[0]
        return first.removeprefix("# ").strip() or self.note.title(self.path)

    @property
    def answer(self) -> str:
        """What the person has answered; empty without an answer."""
        return parse_answer(self.note.data)

    @property
    def options(self) -> tuple[str, ...]:
        """What there is to choose from, as it is worded now."""
        return tuple(each.text for each in boxes_in(self.note.body))

    @property
    def ticked(self) -> tuple[int, ...]:
        """The numbers of the options that are ticked, from 0."""
        return tuple(at for at, each in enumerate(boxes_in(self.note.body)) if each.done)

    @property
    def fallback(self) -> str:
        """What is done without an answer."""
        return self.note.string("fallback") or ""

    def moment(self, key: str) -> datetime | None:
        """A moment of the header; None if there is none."""
        found = self.note.header.get(key)
        return found.astimezone() if isinstance(found, datetime) else None

    def is_over(self, now: datetime) -> bool:
        """True if it has waited as long as it said."""
        until = self.moment("expires")
        return until is not None and now >= until


def asked_questions(vault: Vault, containing: bytes = b"") -> Iterator[AskedQuestion]:
    """The notes that ask or have asked, also those that were put away; with `containing`, only those that have it."""
    for folder in (QUESTIONS, ARCHIVE + QUESTIONS):
        place = Path(vault.place.root, vault.home.at(folder))
        for file in sorted(place.glob("*.md")) if place.is_dir() else ():
            path = file.relative_to(vault.place.root).as_posix()
            data = vault.own_version(path)
            if data is None or containing not in data:
                continue
            note = Note.parse(data)
            if note.type == "question":
                yield AskedQuestion(path, note, folder != QUESTIONS)


def close_question(vault: Vault, asked: AskedQuestion, status: str, result: str, **more: Value) -> Edit | None:
    """The request that closes a question with what became of it, and with `more` keys of its header; None while the
    note is not as it counts, or cannot be changed."""
    data = vault.read(asked.path)
    if data is None or data != asked.note.data or asked.note.problem is not None:
        return None
    try:
        note = closed_note(asked.note, status, result)
        for key, value in more.items():
            note = note.with_key(key, value)
    except BadNote:
        return None
    return Edit(asked.path, data, note.data)
