"""Notices about what waits for the person's decision: calls, skills, jobs, questions, also about the profile, and what
arrived from others."""

from collections.abc import Iterator
from dataclasses import replace
from shlex import quote

from agent.asking.answers import TEXT_KINDS
from agent.asking.proposal import Proposal
from agent.asking.questions.notes import without_patience
from agent.asking.questions.question import Question, noted_questions
from agent.background.inbox.queue import request_queue
from agent.events.notices import NoticeRaised
from agent.memory import daily
from agent.runs.decisions import open_questions
from agent.runs.kinds import pending_decisions
from agent.runs.open_requests import unanswered
from agent.runs.owner import is_quiet_now
from agent.runs.upkeep_jobs import profile_questions
from agent.texts import Language, text
from agent.workspace.workspace import Workspace

URGENT, PRIORITY, NOT_URGENT = 0.9, 0.8, 0.65
"""The priority of an urgent question, of what waits for the person while work stands still, and of what may wait
longer."""
_ABOUT = 100
"""The most characters of a title's subject."""
_LINES = 30
"""The most lines of a change in a notice: a longer one is looked at in the note."""
_SECURITY = frozenset({"arrived_note", "arrived_files", "remote"})


def waiting_notices(workspace: Workspace, known: set[str]) -> tuple[NoticeRaised, ...]:
    """A notice about each decision and question that waits here, except in the notes at the `known` paths."""
    asked = [each for each in pending_decisions(workspace) if each.path not in known]
    questions = [each for each in open_questions(workspace) if each.path not in known]
    under_way = {each.path for each in request_queue(workspace.vault).load()[0]}
    left = [path for path, _ in unanswered(workspace) if path not in known | under_way]
    return (
        *(_of_request(workspace, path) for path in left),
        *(_of_decision(workspace, each) for each in asked),
        *(_of_question(workspace, each) for each in questions),
        *_noted_notices(workspace, known),
    )


def _noted_notices(workspace: Workspace, known: set[str]) -> Iterator[NoticeRaised]:
    """A notice about each question of a note that waits until a day."""
    of_profile = frozenset(each.path for each in profile_questions(workspace))
    for each in noted_questions(workspace.vault):
        if each.expires is not None and each.path not in known:
            yield _of_noted(workspace, each, "profile" if each.path in of_profile else "question")


def _of_request(workspace: Workspace, path: str) -> NoticeRaised:
    """A request that was left while no daemon was at work, or came from elsewhere: it is asked about once, as nobody
    has seen who wrote it."""
    language = workspace.settings.vault.language
    title = text("needs.request", language, note=_short(path.rpartition("/")[2].removesuffix(".md")))
    how = text("needs.request_how", language, path=quote(path))
    return replace(_notice(workspace, "request", title, path, (how,)), priority=NOT_URGENT)


def _of_decision(workspace: Workspace, asked: Proposal) -> NoticeRaised:
    language = workspace.settings.vault.language
    kind = "security" if asked.kind in _SECURITY else "approval"
    if asked.kind in TEXT_KINDS:  # no work waits for it
        return replace(_notice(workspace, kind, _short(asked.question), asked.path), priority=NOT_URGENT)
    is_call = asked.kind == "call"
    is_plain = kind == "approval" and asked.question  # what it is about alone says neither what a yes does nor why
    title = _short(asked.question) if is_plain else text(f"notices.{kind}", language, about=_short(asked.name))
    return _notice(workspace, kind, title, asked.path, _of_call(asked, language) if is_call else ())


def _of_question(workspace: Workspace, asked: Question) -> NoticeRaised:
    """A question for whose answer work waits."""
    title, lines = _parts(asked)
    about = text("notices.question", workspace.settings.vault.language, about=_short(title))
    return _notice(workspace, "question", about, asked.path, lines)


def _of_noted(workspace: Workspace, asked: Question, kind: str) -> NoticeRaised:
    """A question that nothing waits for. One that is urgent is sent at once, but not in the quiet hours, in which it
    was not asked either."""
    title, lines = _parts(asked)
    notice = _notice(workspace, kind, _short(title), asked.path, lines)
    if asked.urgency == "high":
        return replace(notice, priority=URGENT, urgent=not is_quiet_now(workspace))
    return replace(notice, priority=NOT_URGENT)


def _of_call(call: Proposal, language: Language) -> tuple[str, ...]:
    """Why it is asked, and what a yes would do: the change, or the call that changes no note."""
    would = [line for line in (call.change or call.shown).splitlines() if line.strip()]
    more = [text("notices.more_lines", language, count=len(would) - _LINES)] if len(would) > _LINES else []
    return tuple(filter(None, (call.why, *would[:_LINES], *more)))


def _parts(asked: Question) -> tuple[str, tuple[str, ...]]:
    """What is asked, and the lines below it: all of it where a title is too short for it, why, and the options, for
    which a button may be too short."""
    title, _, about = without_patience(asked.text).strip().partition("\n")
    whole = [title] if len(title) > _ABOUT else []
    return title, (*whole, *(line.strip() for line in about.splitlines() if line.strip()), *asked.numbered)


def _notice(workspace: Workspace, kind: str, title: str, path: str, details: tuple[str, ...] = ()) -> NoticeRaised:
    """The last line is the link to the note."""
    language = workspace.settings.vault.language
    line = text("notices.decide_in", language, link=path.removesuffix(".md"))
    return NoticeRaised(kind, PRIORITY, title, (*details, line), subject=path, decides=path)


def _short(words: str) -> str:
    """Words for a title, on one line."""
    return daily.cut(daily.inert(" ".join(words.split())), _ABOUT)
