"""A gap: something that only the person knows or can do, as a question with its reason and what is done without an
answer."""

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal, TypeAlias

from agent.asking.questions.law import KEY_LENGTH
from agent.asking.questions.notes import QuestionDraft, format_question
from agent.dataclass import dataclass
from agent.growth.beliefs.blocks import plain
from agent.growth.beliefs.from_talk import KIND, belief_header
from agent.growth.beliefs.sign import Dimension
from agent.markdown.title import clipped, short_title
from agent.markdown.yaml_write import Value
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
