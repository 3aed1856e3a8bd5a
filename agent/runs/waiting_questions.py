"""All questions of the agent that wait for an answer, whoever asked them and wherever the answer is read."""

from agent.asking.questions.question import Question, noted_questions
from agent.runs.decisions import open_questions
from agent.runs.sync_questions import asked_by_sync, open_sync_questions
from agent.workspace.workspace import Workspace


def waiting_questions(workspace: Workspace) -> tuple[Question, ...]:
    """All unanswered questions: of runs, of sync, and those in notes whose answer is read there, as of the profile."""
    of_sync = asked_by_sync(workspace)
    noted = (each for each in noted_questions(workspace.vault) if each.path not in of_sync)
    return (*open_questions(workspace), *open_sync_questions(workspace), *noted)


def waiting_question(workspace: Workspace, path: str) -> Question | None:
    """The unanswered question in the note at `path`; None if there is none."""
    return next((each for each in waiting_questions(workspace) if each.path == path), None)
