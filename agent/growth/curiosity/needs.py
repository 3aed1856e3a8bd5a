"""What a piece of work needs that its task does not say, as a model has listed it, and what was found for which task:
kept on this machine, so that a job of every day is looked at once a week, and what is not asked at once is asked
later."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal, TypeAlias, get_args

from agent.dataclass import dataclass
from agent.growth.curiosity.gap import MOST_OPTIONS, CuriousGap, GapKind, quoted, shown
from agent.llm.messages import reply_items
from agent.records.database import Records
from agent.records.table import Table
from agent.texts import Language, text

NeedPlace: TypeAlias = Literal["notes", "lookup", "person", "action", "access", "judgement"]
"""Where something is to be had: in the notes, with tools, or by the person alone, who knows it, does it, has access to
it, or judges it."""
OF_PERSON: frozenset[NeedPlace] = frozenset(("person", "action", "access", "judgement"))
MOST = 5
"""The most needs of one piece of work."""
HOLDS = timedelta(days=7)
"""How long what was found for a task holds; then it is looked at again."""
_KEPT = 200
_PLACES: tuple[NeedPlace, ...] = get_args(NeedPlace)
_TRUE = frozenset(("true", "yes", "1"))
_TASK = 60


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
        return self.where in OF_PERSON

    def gap(self, task: str, source: str, language: Language) -> CuriousGap:
        """The question about this need; `source` links to what shows it, `task` is known by its first line."""
        kind: GapKind = "knowledge"
        if self.where in ("action", "access"):
            kind = "action"
        elif self.where == "judgement":
            kind = "judgement"
        elif self.options:
            kind = "decision"
        return CuriousGap(
            kind,
            f"{task} {self.where} {' '.join(sorted(self.what.casefold().split()))}",
            self._asked(task, language),
            self._why(task, language),
            self.fallback,
            self._choices(language),
            "high" if self.is_urgent else "low",
            source,
            about=self.what,
            note=self._note(language),
            is_of_work=True,
        )

    def _asked(self, task: str, language: Language) -> str:
        if self.where not in ("action", "access"):
            return self.question
        return text("curiosity.action", language, task=shown(task, _TASK), words=quoted(self.what))

    def _why(self, task: str, language: Language) -> str:
        match self.where:
            case "action" | "access":
                return text(f"curiosity.action_{'physical' if self.where == 'action' else 'restricted'}", language)
            case "judgement":
                return text("curiosity.judge_why", language)
            case _:
                return text("curiosity.ahead_why", language, task=shown(task, _TASK), what=quoted(self.what))

    def _note(self, language: Language) -> str:
        if self.where not in ("action", "access"):
            return ""
        note = text("curiosity.action_note", language)
        return f"{note} {text('curiosity.action_result', language, result=self.result)}" if self.result else note

    def _choices(self, language: Language) -> tuple[str, ...]:
        if self.where in ("action", "access"):
            return text("curiosity.action_done", language), text("curiosity.action_left", language)
        return self.options


def parse_needs(reply: str, language: Language) -> tuple[WorkNeed, ...]:
    """The needs in a model's answer; what is not said in full is left out. Raises `ValueError` for an answer without
    the list."""
    return tuple(_needs(reply, language))[:MOST]


def _needs(reply: str, language: Language) -> Iterator[WorkNeed]:
    for item in reply_items(reply):
        where = next((each for each in _PLACES if each == item.get("where", "").strip()), None)
        what, question = shown(item.get("what", "")), shown(item.get("question", ""))
        if where is None or not what or (where in ("person", "judgement") and not question):
            continue
        options = tuple(dict.fromkeys(shown(each) for each in item.get("options", "").splitlines() if each.strip()))
        fallback = shown(item.get("fallback", ""))
        usual = "action_fallback" if where in ("action", "access") else "ahead_fallback"
        yield WorkNeed(
            where,
            what,
            shown(item.get("search", "")),
            question,
            options[:MOST_OPTIONS] if len(options) > 1 else (),
            shown(item.get("result", "")),
            fallback or text(f"curiosity.{usual}", language),
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
