"""What conversations and answers to questions show of the person's preferences."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from pathlib import PurePosixPath
from typing import get_args

from agent.asking.questions.notes import ANSWERED_AT, asked_questions
from agent.config.resources import first_match, pattern
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.growth.beliefs.blocks import quoted
from agent.growth.beliefs.sign import OPTIONS, Dimension, DimensionKind, Sign, without_separator
from agent.growth.beliefs.stated import styles_in
from agent.growth.patterns.likeness import words_in
from agent.index.analysis import terms
from agent.llm.messages import Assistant, User
from agent.loop.records import Began, Closed, Spoken
from agent.loop.session import Session, load_session
from agent.markdown.note import Note
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.owner import kind_of_task
from agent.vault.store import Vault

SOON = timedelta(minutes=30)
"""How long after an answer a question is one about it."""
_SHORT, _REACTION, _CHOICE = 200, 80, 60
"""The most characters of a question about an answer, of a request to put it otherwise, and of a choice: longer ones
are tasks of their own, or pasted."""
_OPTION = re.compile(
    r"^\s{0,3}(?:[-*+]\s+)?\*{0,2}(?:(?P<mark>[A-Da-d1-9])[.)、:：]|\((?P<inner>[A-Da-d1-9])\))\*{0,2}\s*"
    r"(?P<words>\S.*)$"
)
_ASIDE = re.compile(r"\s+[—–-]\s+.*$|[:：;；(（].*$|[.。]\s.*$")
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "一": 1, "二": 2, "三": 3, "四": 4}
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_MOST_OPTIONS = 9


@dataclass(frozen=True, slots=True)
class TalkTurn:
    """What the person said, when, and what the agent answered (empty: nothing yet)."""

    at: datetime
    words: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """What conversations show; `silent` counts the answers after which nothing was said."""

    signals: tuple[Sign, ...] = ()
    silent: int = 0


def talk_of(sessions: Iterable[Session]) -> Talk:
    """What these conversations show."""
    found: list[Sign] = []
    silent = 0
    for session in sessions:
        if not is_private_talk(session):
            continue
        turns = turns_of(session)
        link = session.path.removesuffix(".md")
        for before, after in zip(turns, turns[1:], strict=False):
            found += _signals(before, after, link)
        silent += bool(turns and turns[-1].answer)
    return Talk(tuple(found), silent)


def is_private_talk(session: Session) -> bool:
    """True for a conversation of the vault's owner alone, without text by others."""
    began = [record.event for record in session.records if isinstance(record.event, Began)]
    is_own = all(each.role == "owner" and not (each.group or each.job or each.sender) for each in began)
    return bool(began) and is_own and not session.parent and not session.untrusted


def turns_of(session: Session) -> tuple[TalkTurn, ...]:
    """What was said in a conversation, in order, each with the answer to it."""
    turns: list[TalkTurn] = []
    for record in session.records:
        match record.event:
            case Spoken(User(words)) if words.strip():
                turns.append(TalkTurn(record.at, words))
            case Spoken(Assistant(text=words, calls=())) if turns and words.strip():
                turns[-1] = TalkTurn(turns[-1].at, turns[-1].words, words)
            case Closed():
                pass
    return tuple(turns)


def options_in(answer: str) -> tuple[str, ...]:
    """The options that an answer offers, each without its explanation; none if it asks for no choice."""
    if "?" not in answer and "？" not in answer:
        return ()
    found = [*filter(None, map(_OPTION.match, answer.splitlines()))]
    marks = [(match["mark"] or match["inner"]).lower() for match in found]
    wanted = ("abcd" if marks[:1] == ["a"] else "123456789")[: len(marks)]
    if not 2 <= len(found) <= _MOST_OPTIONS or "".join(marks) != wanted:
        return ()
    return tuple(option_words(match["words"]) for match in found)


def option_lines(answer: str) -> tuple[str, ...]:
    """The options of an answer with what it says of each, without their marks."""
    found = filter(None, map(_OPTION.match, answer.splitlines()))
    return tuple(" ".join(each["words"].replace("*", "").split()) for each in found)


def option_words(words: str) -> str:
    """An option in the few words by which it is known again."""
    bare = _ASIDE.sub("", words.replace("*", "").replace(OPTIONS.strip(), "/")).strip(' .。,，"“”')
    return without_separator(bare or words)


def choice_in(reply: str, options: tuple[str, ...]) -> str:
    """The option that few words choose; empty for none."""
    words = reply.strip()
    if not options or len(words) > _CHOICE:
        return ""
    named = [each for each in options if each.casefold() == words.casefold().strip(" .。!！")]
    if named:
        return named[0]
    if (found := first_match("choose_one", words)) is None:
        return ""
    mark = next(filter(None, found.groups())).casefold()
    number = len(options) if mark == "last" else _ORDINALS.get(mark) or _number(mark)
    return options[number - 1] if 0 < number <= len(options) else ""


def _number(mark: str) -> int:
    return int(mark) if mark.isdecimal() else "abcd".find(mark) + 1


def _signals(before: TalkTurn, after: TalkTurn, link: str) -> Iterator[Sign]:
    if not before.answer or after.at - before.at > SOON:
        return
    evidence = Evidence(link, day=f"{after.at:%Y-%m-%d}")
    day, words, excerpt = after.at.date(), after.words.strip(), quoted(after.words)
    tasks = frozenset((kind_of_task(before.words),))
    options = options_in(before.answer)
    if chosen := choice_in(words, options):
        yield Sign("chosen", choice_of(options), chosen, day, evidence, excerpt)
    elif len(words) <= _REACTION and pattern("style_reaction").match(words):
        for dimension, value in styles_in(words):
            yield Sign("requested", dimension, value, day, evidence, excerpt, tasks)
    elif len(words) <= _SHORT and (value := _follow_up(words)) and (subject := subject_of(words, before.words)):
        yield Sign("followed_up", Dimension("follow_up", subject), value, day, evidence, excerpt, tasks)


def choice_of(options: Iterable[str], question: str = "") -> Dimension:
    """The dimension of a choice: the options in whatever order, and the question where these say nothing alone, as yes
    and no do."""
    plain = sorted(dict.fromkeys(options), key=str.casefold)
    says_much = sum(len(terms(each)) for each in plain) > 1
    return Dimension("choice", OPTIONS.join(plain if says_much else [*plain, question]).strip())


def _follow_up(question: str) -> str:
    if pattern("ask_detail").search(question):
        return "detail"
    return "direction" if pattern("ask_direction").search(question) else ""


def subject_of(question: str, task: str) -> str:
    """The word that a question about an answer is about: one that the task has, too, if there is one."""
    own, before = words_in(question), words_in(task)
    among = own & before or own or before
    best = max(sorted(among), key=len, default="")
    written = (word.lower() for text in (task, question) for word in _WORD.findall(text) if best in terms(word))
    return next(written, best) if best.isascii() else best


BELIEF, VALUES = "belief", "values"
"""The keys of a question's header which belief it is about (kind and topic of the dimension), and the values in the
order of the options."""
KIND = "kind"
"""The key of a question's header that says what kind of gap it is about."""
_CHOSEN = ("decision", "judgement")
"""The kinds of gaps whose answer shows a preference."""


def signals_of_questions(vault: Vault) -> Iterator[Sign]:
    """The signals of all answered questions, also of those that were put away."""
    for asked in asked_questions(vault):
        note, ticked = asked.note, asked.ticked
        if len(ticked) != 1 or note.header.get("untrusted") or note.header.get("profile"):
            continue
        options, at, day = asked.options, ticked[0], _day(note)
        evidence = Evidence(asked.path.removesuffix(".md"), day=day.isoformat())
        if (dimension := dimension_in(note)) is not None:
            values = note.strings(VALUES)
            if at < len(values):
                yield Sign("answered", dimension, values[at], day, evidence)
        elif len(options) > 1 and _shows_preference(vault, note):
            plain = tuple(map(option_words, options))
            yield Sign("chosen", choice_of(plain, option_words(asked.title)), plain[at], day, evidence)


def _shows_preference(vault: Vault, note: Note) -> bool:
    """True for a choice that the owner has made: in a run of their own, or among what the agent could not decide."""
    if note.string("run"):
        session = session_of(vault, note)
        return session is not None and is_of_owner(session) and not session.untrusted
    return (note.string(KIND) or "") in _CHOSEN


def belief_header(dimension: Dimension, values: Iterable[str]) -> Mapping[str, list[str]]:
    """The part of a question's header by which the answer counts for a belief."""
    return {BELIEF: [dimension.kind, dimension.topic], VALUES: list(values)}


def dimension_in(note: Note) -> Dimension | None:
    """The belief that a question is about; None for any other question."""
    found = note.strings(BELIEF)
    kinds: tuple[DimensionKind, ...] = get_args(DimensionKind)
    kind = next((each for each in kinds if found[:1] == (each,)), None)
    return Dimension(kind, found[1]) if kind is not None and len(found) > 1 else None


def session_of(vault: Vault, note: Note) -> Session | None:
    """The session of the run that asked in a note; None if there is none to be read."""
    link = (note.string("session") or "").strip("[]")
    try:
        return load_session(vault, f"{link}.md") if PurePosixPath(link).name else None
    except (AgentError, OSError, ValueError):
        return None


def is_of_owner(session: Session) -> bool:
    """True for a conversation of the owner alone, and for work that the agent does alone for them."""
    began = [record.event for record in session.records if isinstance(record.event, Began)]
    is_own = all(each.role == "owner" and not (each.group or each.sender) for each in began)
    return bool(began) and is_own and not session.parent


def _day(note: Note) -> date:
    """The day of the answer, where the note says it, else that of the question."""
    known = (note.header.get(key) for key in (ANSWERED_AT, "created"))
    return next((each.date() for each in known if isinstance(each, datetime)), date.min)
