"""`fill_gap`: something that the notes about the person, or the vault, do not say is looked for, and else asked."""

import re
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from operator import attrgetter
from typing import Literal, TypeAlias

from agent.asking.questions.law import EverAsked, ever_asked, may_ask_one
from agent.asking.questions.notes import asked_questions
from agent.dataclass import dataclass
from agent.growth.curiosity.gap import CuriousGap, question_note
from agent.growth.curiosity.look import is_good_moment
from agent.growth.procedures.material import counted, days_before, logs
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.growth.procedures.profile_lines import changes_in_answer, propose
from agent.growth.procedures.update_profile import work_of
from agent.memory.daily import inert
from agent.memory.profile.load import profile_with_forms
from agent.memory.understanding.statements import is_question
from agent.tools.builtin.human import SILENT
from agent.vault.change import Create
from agent.vault.folders import PROFILE

MODEL: ModelPart = "if_found"
AskLater: TypeAlias = Literal["ask_off", "ask_later"]
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
    """Something that is not known: the question about it, the note that lacks it (empty for none), and its field."""

    question: str
    name: str = ""
    label: str = ""

    @property
    def key(self) -> str:
        """The same for the same gap, whenever it is found."""
        return sha256(f"{self.name} {self.question}".encode()).hexdigest()[:12]


def plain(context: ProcedureContext) -> Work:
    """Ask the person about the first gap that they were not asked about yet, in a note in `questions/`; nothing, while
    this is no hour for questions or enough of them are open."""
    found = list(islice(gaps(context), _SHOWN))
    if not found:
        return Work()
    why_not = may_not_ask(context)
    if context.runs.present:
        shown = "\n".join(f"- {each.question}{_where(context, each)}" for each in found)
        return Work(f"{shown}\n\n{context.text('ask_nothing')}", purpose=SILENT) if why_not else Work(shown)
    if why_not:
        return Work(context.text(why_not), is_quiet=True)
    made = _question(context, found[0])
    return Work(context.text("asked_gap", link=f"[[{made.path.removesuffix('.md')}]]"), (made,))


def may_not_ask(context: ProcedureContext) -> AskLater | None:
    """Why this task may ask nothing now; None if it may. A task that the person has planned may ask at any hour."""
    workspace, is_own_idea = context.runs.workspace, context.call.is_own_idea
    if is_own_idea and not workspace.settings.growth.curiosity.unprompted:
        return "ask_off"
    if not may_ask_one(asked_questions(context.vault)):
        return "ask_later"
    return "ask_later" if is_own_idea and not is_good_moment(workspace) else None


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """What was found is added to the note that lacked it; for no note, the answer is the result."""
    name = context.call.target_file or next((each.name for each in gaps(context) if each.name), "")
    if not name:
        return Work(answer)
    changes = changes_in_answer(context, name.removeprefix(PROFILE), answer, context.text("believed"))
    found = work_of(context, propose(context, changes))
    return found if found.requests else Work(answer)


def gaps(context: ProcedureContext) -> Iterator[Gap]:
    """The gaps that the person was not asked about: the one that the task names, empty fields of the note that it
    names, and questions of the person that came again and that no note answers."""
    found = (*_named(context), *_fields(context), *_unanswered(context))
    ever = ever_asked(context.vault) if found else EverAsked()
    return (each for each in found if not ever.has(each.key))


def _named(context: ProcedureContext) -> Iterator[Gap]:
    words = context.call.description
    if words and is_question(words):
        yield Gap(" ".join(words.split())[:200], context.call.target_file)


def _fields(context: ProcedureContext) -> Iterator[Gap]:
    """The empty fields of the note that the person has named: by itself the agent asks nothing to fill a form."""
    if context.call.is_own_idea or not context.call.target_file:
        return
    files = profile_with_forms(context.vault, context.language)
    for file in sorted(files, key=attrgetter("name")):
        name = PROFILE + file.name
        if context.call.target_file != name:
            continue
        marked = {each["label"].strip(" *-"): each for each in _FIELD.finditer(file.text)}
        empty = (each.label for each in file.fields if not each.value)
        for label in dict.fromkeys((*marked, *empty)):
            what = " ".join((marked[label]["what"] or "").split()) if label in marked else ""
            asked = what or label or file.title
            yield Gap(context.text("gap", field=asked, title=file.title), name, label or asked)


def _unanswered(context: ProcedureContext) -> Iterator[Gap]:
    titles = [each.logged.title for each in logs(context, days_before(context.today, _DAYS))]
    for title, count in counted([each for each in titles if is_question(each)], _SHOWN):
        words = title.replace(":", " ").replace("-", " ")
        if count > 1 and not context.runs.recall.search(words, 1).hits:
            yield Gap(title)


def _where(context: ProcedureContext, gap: Gap) -> str:
    return f" ([[{context.path(gap.name).removesuffix('.md')}]])" if gap.name else ""


def _question(context: ProcedureContext, gap: Gap) -> Create:
    link = _where(context, gap).strip(" ()")
    asked = CuriousGap(
        "knowledge",
        gap.question,
        inert(gap.question),
        context.text("gap_about", link=link) if gap.name else context.text("gap_came_again"),
        context.text("gap_fallback"),
        about=inert(gap.label) or inert(gap.question),
        lacks=gap.name if gap.label else "",
        known_as=gap.key,
    )
    days = max(context.runs.workspace.settings.growth.curiosity.days, _DAYS)
    return question_note(context.vault, asked, context.now, days, context.language)
