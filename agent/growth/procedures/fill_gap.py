"""`fill_gap`: something that the notes about the person, or the vault, do not say is looked for, and else asked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from itertools import islice
from pathlib import PurePosixPath

from agent.growth.procedures.material import counted, days_before, logs, names_in, names_in_home, title_of
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.growth.procedures.profile_lines import changes_in_answer, propose
from agent.growth.procedures.update_profile import work_of
from agent.markdown.note import Note
from agent.markdown.title import short_title
from agent.markdown.values import Value
from agent.memory import daily
from agent.memory.understanding.statements import is_question
from agent.tools.builtin.human import answer_heading
from agent.vault.change import Create
from agent.vault.folders import PROFILE, QUESTIONS

MODEL: ModelPart = "if_found"
WRITES: tuple[str, ...] = ()
_FIELD = re.compile(
    r"^\W*(?P<label>[^\n:：*\[]{0,60}?)\W*\[(?:to be filled|待填充)(?:[:：]\s*(?P<what>[^\]\n]*))?\]",
    re.MULTILINE | re.IGNORECASE,
)
_DAYS = 14
"""Days of logs that are looked through for questions without an answer."""
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is not known: the question about it, and the note that lacks it (empty for none)."""

    question: str
    name: str = ""

    @property
    def key(self) -> str:
        """The same for the same gap, whenever it is found."""
        return sha256(f"{self.name} {self.question}".encode()).hexdigest()[:12]


def plain(context: ProcedureContext) -> Work:
    """Ask the person about the first gap that they were not asked about yet, in a note in `questions/`."""
    found = list(islice(gaps(context), _SHOWN))
    if not found:
        return Work()
    if context.runs.present:
        return Work("\n".join(f"- {each.question}{_where(context, each)}" for each in found))
    gap = found[0]
    path = _question_path(context, gap)
    return Work(context.text("asked_gap", link=f"[[{path.removesuffix('.md')}]]"), (_question(context, gap, path),))


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """What was found is added to the note that lacked it; for no note, the answer is the result."""
    name = context.call.target_file or next((each.name for each in gaps(context) if each.name), "")
    if not name:
        return Work(answer)
    changes = changes_in_answer(context, name.removeprefix(PROFILE), answer, context.text("believed"))
    found = work_of(context, propose(context, changes))
    return found if found.requests else Work(answer)


def gaps(context: ProcedureContext) -> Iterator[Gap]:
    """The gaps that the person was not asked about: the one that the task names, empty fields of the notes about the
    person, and questions of the person that came again and that no note answers."""
    asked = {_key_of(context, path) for path in names_in_home(context, QUESTIONS, "*.md")}
    return (each for each in (*_named(context), *_fields(context), *_unanswered(context)) if each.key not in asked)


def _named(context: ProcedureContext) -> Iterator[Gap]:
    words = context.call.description
    if words and is_question(words):
        yield Gap(" ".join(words.split())[:200], context.call.target_file)


def _fields(context: ProcedureContext) -> Iterator[Gap]:
    names = [context.call.target_file] if context.call.target_file else names_in(context, PROFILE)
    for name in names:
        for found in _FIELD.finditer(Note.parse(context.note(name).encode()).body):
            label = " ".join((found["what"] or found["label"]).split()) or title_of(name)
            yield Gap(context.text("gap", field=label, title=title_of(name)), name)


def _unanswered(context: ProcedureContext) -> Iterator[Gap]:
    titles = [each.logged.title for each in logs(context, days_before(context.today, _DAYS))]
    for title, count in counted([each for each in titles if is_question(each)], _SHOWN):
        words = title.replace(":", " ").replace("-", " ")
        if count > 1 and not context.runs.recall.search(words, 1).hits:
            yield Gap(title)


def _where(context: ProcedureContext, gap: Gap) -> str:
    return f" ([[{context.path(gap.name).removesuffix('.md')}]])" if gap.name else ""


def _key_of(context: ProcedureContext, path: str) -> str:
    return Note.parse(context.vault.read(path) or b"").string("gap") or ""


def _question_path(context: ProcedureContext, gap: Gap) -> str:
    words = short_title(gap.question).lower().replace(" ", "-") or PurePosixPath(gap.name).stem
    return context.path(f"{QUESTIONS}{context.today}-{words}-{gap.key[:6]}.md")


def _question(context: ProcedureContext, gap: Gap, path: str) -> Create:
    hours = context.runs.workspace.settings.tools.approval_hours
    now = context.now.replace(microsecond=0)
    header: dict[str, Value] = {
        "id": context.vault.clock.new_id(),
        "type": "question",
        "created": now,
        "status": "open",
        "gap": gap.key,
        "expires": now + timedelta(hours=max(hours, 24 * 14)),
    }
    about = f"\n\n{context.text('gap_about', link=_where(context, gap).strip(' ()'))}" if gap.name else ""
    body = f"# {daily.inert(gap.question)}{about}\n\n{answer_heading(context.language)}\n\n"
    return Create(path, Note.compose(header, body).data)
