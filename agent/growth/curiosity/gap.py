"""A gap: something that only the person knows or can do, as a question with its reason and what is done without an
answer; and what a piece of work needs that its task does not say, as a model has listed it. That is kept for each task
on this machine, so that a job of every day is looked at once a week, and what is not asked at once is asked later."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

from agent.asking.questions.law import KEY_LENGTH
from agent.asking.questions.notes import QuestionDraft, format_question
from agent.dataclass import dataclass
from agent.growth.beliefs.blocks import plain
from agent.growth.beliefs.from_talk import KIND, belief_header
from agent.growth.beliefs.sign import Dimension
from agent.llm.messages import reply_items
from agent.markdown.title import clipped, short_title
from agent.markdown.yaml_write import Value
from agent.records.database import Records
from agent.records.table import Table
from agent.texts import Language, text
from agent.vault.change import Create
from agent.vault.folders import QUESTIONS
from agent.vault.store import Vault

GapKind: TypeAlias = Literal["knowledge", "decision", "action", "judgement"]
Urgency: TypeAlias = Literal["low", "high"]
GAP = "gap"
"""The key of a question's header with the key of its gap."""
MOST_OPTIONS = 4
"""The most options of a question."""
_NAME, _WORDS, _TASK = 6, 160, 60


@dataclass(frozen=True, slots=True)
class CuriousGap:
    """`question` is asked in one sentence, `why` says what for, `fallback` what is done without an answer. `options`
    are to choose from; for a belief, `dimension` and the `values` of the options. `subject` is the same whenever the
    gap is found again; `source` is a link to the note that shows it. `about` are the words by which the question is
    known when it comes again. `note` says how to answer, if that needs to be said. `is_of_work`: it is about one piece
    of work, and the same question about other work is another one."""

    kind: GapKind
    subject: str
    question: str
    why: str
    fallback: str
    options: tuple[str, ...] = ()
    urgency: Urgency = "low"
    source: str = ""
    dimension: Dimension | None = None
    values: tuple[str, ...] = ()
    about: str = ""
    note: str = ""
    is_of_work: bool = False

    @property
    def key(self) -> str:
        """The same for the same gap, whenever it is found."""
        return sha256(f"{self.kind}\n{self.subject}".encode("utf-8", "surrogateescape")).hexdigest()[:KEY_LENGTH]


def inert_excerpt(words: str, most: int = _WORDS) -> str:
    """Words of a run or a model on one line that an editor neither loads nor links."""
    return clipped(plain(words), most)


def phrase(words: str) -> str:
    """Words to be quoted in a sentence: without the stop at their end."""
    return inert_excerpt(words).rstrip(" .。")


def task_name(task: str) -> str:
    """The few words by which a task is known."""
    return inert_excerpt(task, _TASK)


def question_note(vault: Vault, gap: CuriousGap, now: datetime, days: float, language: Language) -> Create:
    """The note that asks about a gap, for so many days."""
    at = now.replace(microsecond=0)
    more: dict[str, Value] = {GAP: gap.key, KIND: gap.kind}
    if gap.dimension is not None:
        more |= belief_header(gap.dimension, gap.values)
    source = text("question.shown_in", language, link=gap.source) if gap.source else ""
    draft = QuestionDraft(
        gap.question,
        at + timedelta(days=days),
        gap.why,
        gap.fallback,
        gap.options,
        about=tuple(filter(None, (source, gap.note))),
        patience=gap.urgency,
        more=more,
    )
    words = short_title(gap.about or gap.question).lower().replace(" ", "-") or gap.kind
    path = vault.home.at(f"{QUESTIONS}{at:%Y-%m-%d}-{words}-{gap.key[:_NAME]}.md")
    return Create(path, format_question(draft, vault.clock.new_id(), at, language))


NeedPlace: TypeAlias = Literal["notes", "lookup", "person", "action", "access", "judgement"]
"""Where something is to be had: in the notes, with tools, or by the person alone, who knows it, does it, has access to
it, or judges it."""
MOST = 5
"""The most needs of one piece of work."""
HOLDS = timedelta(days=7)
"""How long what was found for a task holds; then it is looked at again."""
_KEPT = 200
_TRUE = frozenset(("true", "yes", "1"))
_OF_PERSON: Mapping[NeedPlace, tuple[GapKind, str]] = {
    "person": ("knowledge", "ahead_why"),
    "action": ("action", "action_physical"),
    "access": ("action", "action_restricted"),
    "judgement": ("judgement", "judge_why"),
}
"""What only the person has: the kind of gap, and the sentence that says why it is asked."""


@dataclass(frozen=True, slots=True)
class WorkNeed:
    """One thing that a piece of work needs. `search` are words to look for it, `result` the form in which the person
    gives what came of an action. `is_needed`: the work is of no use without it. All texts are on one line and do
    nothing in an editor; `question` and `fallback` are there for what only the person has."""

    where: NeedPlace
    what: str
    search: str = ""
    question: str = ""
    options: tuple[str, ...] = ()
    result: str = ""
    fallback: str = ""
    is_needed: bool = False
    is_urgent: bool = False

    @property
    def is_of_person(self) -> bool:
        """True for what only the person knows or can do."""
        return self.where in _OF_PERSON

    def gap(self, task: str, source: str, language: Language) -> CuriousGap:
        """The question about this need; `source` links to what shows it, `task` is known by its first line."""
        kind, why = _OF_PERSON[self.where]
        named, what, options, asked, note = task_name(task), phrase(self.what), self.options, self.question, ""
        if kind == "action":
            asked = text("curiosity.action", language, task=named, words=what)
            options = (text("curiosity.action_done", language), text("curiosity.action_left", language))
            note = text("curiosity.action_note", language)
            note += f" {text('curiosity.action_result', language, result=self.result)}" if self.result else ""
        return CuriousGap(
            "decision" if kind == "knowledge" and options else kind,
            f"{task} {self.where} {' '.join(sorted(self.what.casefold().split()))}",
            asked,
            text(f"curiosity.{why}", language, task=named, what=what),
            self.fallback,
            options,
            "high" if self.is_urgent else "low",
            source,
            about=self.what,
            note=note,
            is_of_work=True,
        )


def parse_needs(reply: str, language: Language) -> tuple[WorkNeed, ...]:
    """The needs in a model's answer; what is not said in full is left out. Raises `ValueError` for an answer without
    the list."""
    return tuple(_needs(reply, language))[:MOST]


def _needs(reply: str, language: Language) -> Iterator[WorkNeed]:
    places: dict[str, NeedPlace] = {each: each for each in get_args(NeedPlace)}
    for item in reply_items(reply):
        where = places.get(item.get("where", "").strip())
        what, question = inert_excerpt(item.get("what", "")), inert_excerpt(item.get("question", ""))
        if where is None or not what or (where in ("person", "judgement") and not question):
            continue
        options = tuple(
            dict.fromkeys(inert_excerpt(each) for each in item.get("options", "").splitlines() if each.strip())
        )
        usual = text(f"curiosity.{'action' if where in ('action', 'access') else 'ahead'}_fallback", language)
        yield WorkNeed(
            where,
            what,
            inert_excerpt(item.get("search", "")),
            question,
            options[:MOST_OPTIONS] if len(options) > 1 else (),
            inert_excerpt(item.get("result", "")),
            inert_excerpt(item.get("fallback", "")) or usual,
            item.get("needed", "").casefold() in _TRUE,
            item.get("urgent", "").casefold() in _TRUE,
        )


@dataclass(frozen=True, slots=True)
class LookedAhead:
    """The needs of one task, found at a time; `session` is the session that began with it then."""

    key: str
    at: datetime
    task: str
    session: str
    needs: tuple[WorkNeed, ...] = ()


def key_of_task(task: str) -> str:
    """The same for the same task."""
    return sha256(task.strip().encode("utf-8", "surrogateescape")).hexdigest()[:16]


def load_looked_ahead(records: Records) -> tuple[LookedAhead, ...]:
    """What was found, the oldest first; nothing where that is damaged."""
    return _table(records).get() or ()


def save_looked_ahead(records: Records, found: Sequence[LookedAhead]) -> None:
    """Write what was found, without the oldest beyond some hundred; durable when this returns."""
    _table(records).put(tuple(found[-_KEPT:]))


def _table(records: Records) -> Table[tuple[LookedAhead, ...]]:
    return Table(records, "looked-ahead", tuple[LookedAhead, ...])
