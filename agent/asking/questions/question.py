"""A question as lists, pages and chats show it, and an answer as it is written into its note."""

from datetime import datetime

from agent.asking.questions.notes import (
    AskedQuestion,
    answer_heading,
    asked_questions,
    boxes_in,
    parse_answer,
    split_answer,
)
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.markdown.note import Note
from agent.texts import Language
from agent.vault.change import Stamp
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the agent in the note at `path`; `answer` is empty while there is none. `urgency` is `low`, `high`,
    or empty where something waits for it."""

    id: str
    path: str
    text: str
    options: tuple[str, ...]
    run: str
    expires: datetime | None
    answer: str
    urgency: str = ""

    @property
    def numbered(self) -> list[str]:
        """The options as a person reads them, such as `1. green`."""
        return [f"{number}. {option}" for number, option in enumerate(self.options, 1)]

    def chosen(self, words: str) -> str:
        """The option whose number the words are; else the words."""
        number = int(words[:4]) if words.isdecimal() else 0
        return self.options[number - 1] if 0 < number <= len(self.options) else words


def read_question(vault: Vault, path: str) -> Question | None:
    """The question in a note; None if the note holds none."""
    data = vault.read(path)
    note = Note.parse(data or b"")
    if data is None or note.type != "question":
        return None
    return _as_question(AskedQuestion(path, note), parse_answer(vault.own_version(path) or b""))


def noted_questions(vault: Vault) -> tuple[Question, ...]:
    """The unanswered questions that no run waits for, such as one about the profile, sorted by path: who asked reads
    the answer in the note. A note that arrived from where others write asks nothing."""
    found = (each for each in asked_questions(vault, b"status: open") if each.is_open and not each.run)
    return tuple(_as_question(each, "") for each in found if not each.answer)


def write_answer(vault: Vault, question: Question, words: str, language: Language) -> None:
    """Write an answer into the question's note in the person's name: a tick for an option, else text below it."""
    answer, path = vault.masked(words.strip()), question.path
    if not answer:
        raise UserError("the answer is empty", hint="vault-agent needs answer {id} TEXT", id=question.id)
    data = vault.read(path) or b""
    note = Note.parse(data)
    body = note.body
    box = f"- [ ] {answer}"
    if answer in question.options and f"\n{box}" in body:
        after = body.replace(f"\n{box}", f"\n- [x] {answer}", 1)
    else:
        heading = f"\n\n{answer_heading(language)}\n" if split_answer(body)[1] is None else ""
        after = body.rstrip("\n") + heading + f"\n\n{answer}\n"
    with vault.transaction(f"question(answer): {path}", Stamp("human")) as change:
        change.edit(path, data, note.with_body(after).data)


def without_boxes(body: str) -> str:
    """The text of a question's note without its heading's mark and its boxes."""
    text = "\n".join(line for line in body.splitlines() if not line.lstrip().startswith("- ["))
    return text.strip().removeprefix("# ")


def _as_question(asked: AskedQuestion, answer: str) -> Question:
    note = asked.note
    above, _ = split_answer(note.body.replace("\r\n", "\n"))
    expires = note.header.get("expires")
    return Question(
        note.id or "",
        asked.path,
        without_boxes(above),
        tuple(each.text for each in boxes_in(note.body)),
        asked.run,
        expires if isinstance(expires, datetime) else None,
        answer,
        note.string("urgency") or "",
    )
