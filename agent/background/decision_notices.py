"""Notices about what waits for the person's decision: calls, skills, jobs, questions, and what arrived from others."""

from agent.events.notices import NoticeRaised
from agent.memory import daily
from agent.runs.decisions import open_questions
from agent.runs.pending_decisions import PendingDecision, pending_decisions
from agent.texts import text
from agent.workspace.workspace import Workspace

PRIORITY = 0.8
"""The priority of what waits for the person: work stands still."""
_SECURITY = frozenset({"arrived_note", "remote"})


def waiting_notices(workspace: Workspace, known: set[str]) -> tuple[NoticeRaised, ...]:
    """A notice about each decision and question that waits here, except in the notes at the `known` paths."""
    language = workspace.settings.vault.language
    asked = [each for each in pending_decisions(workspace) if each.path not in known]
    questions = [each for each in open_questions(workspace) if each.path not in known]
    return (
        *(_of_decision(workspace, each) for each in asked),
        *(
            _notice(workspace, "question", text("notices.question", language, about=_short(each.text)), each.path)
            for each in questions
        ),
    )


def _of_decision(workspace: Workspace, asked: PendingDecision) -> NoticeRaised:
    language = workspace.settings.vault.language
    kind = "security" if asked.kind in _SECURITY else "approval"
    title = text(f"notices.{kind}", language, about=_short(asked.name or asked.kind))
    return _notice(workspace, kind, title, asked.path)


def _notice(workspace: Workspace, kind: str, title: str, path: str) -> NoticeRaised:
    language = workspace.settings.vault.language
    line = text("notices.decide_in", language, link=path.removesuffix(".md"))
    return NoticeRaised(kind, PRIORITY, title, (line,), subject=path, decides=path)


def _short(words: str) -> str:
    """Words for a title, on one line."""
    return daily.cut(daily.inert(" ".join(words.split())), 100)
