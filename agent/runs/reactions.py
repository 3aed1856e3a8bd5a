"""What the person has said or done about what came of a run: opinions, edits, an undo, a refusal, their next words.

Only the owner's own signs count: a guest's words, and changes that came with a pull from others, say nothing of what
the owner wants. Silence is no sign: a run to which nobody reacted says nothing of what was used in it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from difflib import unified_diff
from typing import Literal, TypeAlias

from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.llm.messages import User
from agent.loop.record_parse import run_ends
from agent.loop.records import Began, Spoken
from agent.loop.session import Session, load_session
from agent.markdown.title import clipped
from agent.memory.edits.person_edits import WITHIN, PersonEdit, person_edits
from agent.memory.understanding.statements import is_question, is_small_talk, is_to_forget
from agent.memory.understanding.wording import similarity, wording
from agent.runs.corrections import corrected_among
from agent.runs.run_course import RunCourse, course_of
from agent.skills.history.feedback import parse_feedback_form
from agent.skills.history.usage import Opinion
from agent.tools.text_origin import text_origin_of
from agent.vault.folders import SESSIONS
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit
from agent.vault.history.find import commits
from agent.vault.store import Vault

ReactionKind: TypeAlias = Literal[
    "helpful", "not_helpful", "edited", "undone", "refused", "complained", "asked_again", "followed_up", "thanked"
]
"""`helpful` and `not_helpful` are ticked boxes; `asked_again` is the same question once more, `followed_up` another one
about the answer; `thanked` are words of somebody who got what they wanted."""
WordOpinion: TypeAlias = Literal["", "helpful", "corrected"]
CORRECTIONS: frozenset[ReactionKind] = frozenset(
    ("not_helpful", "edited", "undone", "refused", "complained", "asked_again")
)
"""The reactions of somebody who did not get what they wanted."""
_DISCONTENT: frozenset[ReactionKind] = frozenset(("edited", "undone", "complained", "asked_again"))
SOON = timedelta(hours=1)
"""How long after an answer the next words are taken to be about it."""
LOOKED_BACK = timedelta(days=2)
"""How far back edits and undos are looked for."""
_SAME = 0.7
"""The likeness of two questions from which the second asks the first again."""
_QUOTED, _DIFF = 300, 1_200
"""The most characters of the person's words, and of the lines of an edit."""
_CLAUSE = re.compile(r"[,，.。!！;；]\s*")
_THANKS = 120
"""The most characters of words of thanks: more is another request."""
_LONG = 600
"""From how many characters on a text is a new request, whatever words are in it."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """One reaction; `words` are the person's own, or the lines that they changed."""

    kind: ReactionKind
    words: str = ""


def is_complaint(words: str) -> bool:
    """True for the words of somebody who is not content with the answer before; not for who corrects themselves, or
    wants something forgotten."""
    plain = words.replace("’", "'").strip()
    if not 0 < len(plain) <= _LONG or is_small_talk(plain) or is_to_forget(plain) or pattern("meant").search(plain):
        return False
    return pattern("complaint").search(plain) is not None


def opinion_in(reactions: Iterable[Reaction]) -> WordOpinion:
    """The opinion of reactions other than boxes on all that was used in a run; empty without one."""
    kinds = {each.kind for each in reactions}
    if kinds & _DISCONTENT:
        return "corrected"
    return "helpful" if "thanked" in kinds else ""


def opinions_on_runs(vault: Vault, runs: Mapping[str, str]) -> Mapping[str, WordOpinion]:
    """The same for each of these runs (with the path of their session) to which the person has reacted.

    An edit says something of the run whose lines it has changed or removed: not of others that wrote into the note, nor
    where something was only added.
    """
    now, found = vault.clock.now(), dict[str, WordOpinion]()
    undone = _undone(commits(vault, since=now - LOOKED_BACK - WITHIN), runs.keys())
    corrected = corrected_among(vault, set(runs), now)
    sessions: dict[str, Session | None] = {}
    for run, path in runs.items():
        if path not in sessions:
            try:
                sessions[path] = load_session(vault, path) if path else None
            except NoteGone:
                sessions[path] = None
        session = sessions[path]
        course = course_of(vault, session, run) if session is not None else None
        reactions = reactions_in_session(vault, session, course) if session is not None and course is not None else ()
        edited = [Reaction("edited")] if run in corrected else []
        if opinion := opinion_in((*reactions, *undone.get(run, ()), *edited)):
            found[run] = opinion
    return found


def reactions_in_session(vault: Vault, session: Session, course: RunCourse) -> tuple[Reaction, ...]:
    """The reactions that the session of a run has: refusals in it, ticked boxes, and the next words of the person."""
    found = [Reaction("refused", f"{each.tool}: {each.result}") for each in course.calls if each.is_refused]
    found += _interruptions(session, course)
    found += _opinions(vault, session, course)
    found += _next_words(session, course)
    return tuple(found)


def later_reactions(vault: Vault, runs: Collection[str]) -> Mapping[str, tuple[Reaction, ...]]:
    """The reactions in the history to these runs: notes of theirs that the owner has changed or taken back since."""
    now = vault.clock.now()
    found = commits(vault, since=now - LOOKED_BACK - WITHIN)
    work = _work(found, runs)
    if not work:
        return {}
    reactions = _undone(found, runs)
    origin = text_origin_of(vault)
    edits, _ = person_edits(vault, now, "", lambda path, data: bool(origin.source(path, data)))
    for edit in edits:
        for run in _writers(edit, work.values()):
            reactions.setdefault(run, []).append(Reaction("edited", _changed_lines(edit)))
    return {run: tuple(each) for run, each in reactions.items()}


def _work(found: Sequence[Commit], runs: Collection[str]) -> Mapping[str, Commit]:
    """The commits of these runs, by id."""
    return {each.id: each for each in found if _root(each) in runs and each.actor != HUMAN}


def _undone(found: Sequence[Commit], runs: Collection[str]) -> dict[str, list[Reaction]]:
    """Those of these runs of which the owner has taken something back."""
    work, reactions = _work(found, runs), dict[str, list[Reaction]]()
    for commit in found:
        if commit.actor == HUMAN and commit.undoes:
            for run in dict.fromkeys(_root(work[each]) for each in commit.undoes if each in work):
                reactions.setdefault(run, []).append(Reaction("undone", clipped(commit.subject, _QUOTED)))
    return reactions


def _interruptions(session: Session, course: RunCourse) -> Iterator[Reaction]:
    """The reactions in what the person wrote while the run was at work."""
    spoken = (each.message for each in session.of_run(course.run) if isinstance(each, Spoken))
    messages = [each.text for each in spoken if isinstance(each, User)]
    yield from (Reaction("complained", _quoted(words)) for words in messages[1:] if is_complaint(words))


def ticked_boxes(vault: Vault, runs: Mapping[str, str]) -> Mapping[str, Mapping[str, Opinion]]:
    """The opinions in the boxes that are ticked at the end of each of these runs (with the path of their session), by
    the names of skills and the targets of links to lessons."""
    ends: dict[str, dict[str, str]] = {}
    for path in dict.fromkeys(runs.values()):
        data = vault.own_version(path) if vault.home.holds(path, SESSIONS) else None
        ends[path] = dict(run_ends((data or b"").decode("utf-8", "replace")))
    return {run: parse_feedback_form(ends[path].get(run, "")) for run, path in runs.items()}


def _opinions(vault: Vault, session: Session, course: RunCourse) -> Iterator[Reaction]:
    """The boxes about skills that are ticked at the end of the run's record."""
    for name, opinion in ticked_boxes(vault, {course.run: session.path})[course.run].items():
        if (opinion == "helpful" or opinion == "not_helpful") and "#" not in name:
            yield Reaction(opinion, name)


def _next_words(session: Session, course: RunCourse) -> Iterator[Reaction]:
    """The reaction in the same person's next message in the session, if it is about the answer."""
    began = [each for each in session.records if isinstance(each.event, Began)]
    after = (each for each in began if each.at >= course.ended)
    for record in after:
        event = record.event
        if not isinstance(event, Began) or event.run == course.run:
            continue
        is_theirs = event.sender == course.began_as.sender and not event.job
        if is_theirs and record.at - course.ended <= SOON:
            kind = reaction_of_words(course.task, course.answer, event.task)
            yield from [Reaction(kind, _quoted(event.task))] if kind else []
        return


def reaction_of_words(task: str, answer: str, words: str) -> ReactionKind | None:
    """The reaction in the next words of a person to an answer; None if they are about something else."""
    if len(words) <= _THANKS and pattern("thanks").search(words.replace("’", "'").strip()):
        return "thanked"
    asks_back = answer.rstrip(" *_)）").endswith(("?", "？"))
    if is_complaint(_CLAUSE.split(words, maxsplit=1)[-1] if asks_back else words):  # a no to a question is an answer
        return "complained"
    if is_small_talk(words) or len(words) > _LONG:
        return None
    if similarity(wording(task), wording(words)) >= _SAME:
        return "asked_again"
    shared = wording(words).words & (wording(task).words | wording(answer).words)
    return "followed_up" if is_question(words) and shared else None


def _root(commit: Commit) -> str:
    return commit.run.partition(".")[0]


def _writers(edit: PersonEdit, work: Collection[Commit]) -> Sequence[str]:
    """The runs that wrote into the note that was edited."""
    return tuple(dict.fromkeys(_root(each) for each in work if any(file.path == edit.path for file in each.files)))


def _changed_lines(edit: PersonEdit) -> str:
    before, after = [line.text.rstrip() for line in edit.before], [line.rstrip() for line in edit.after]
    rows = unified_diff(before, after, edit.path, edit.path, n=0, lineterm="")
    return clipped("\n".join(row for row in rows if not row.startswith(("---", "+++", "@@"))), _DIFF)


def _quoted(words: str) -> str:
    return clipped(" ".join(words.split()), _QUOTED)
