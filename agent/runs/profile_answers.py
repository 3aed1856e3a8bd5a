"""The questions about the profile that wait for the person, and what follows once they have answered."""

from agent.asking.questions.question import Question, noted_questions
from agent.memory.profile.questions import decided, has_consented, open_questions
from agent.workspace.workspace import Workspace


def is_profile_answered(workspace: Workspace) -> bool:
    """True if an answer about the profile is to be carried out: a box is ticked, or the person has agreed."""
    return bool(decided(workspace.vault)) or has_consented(workspace.vault)


def profile_questions(workspace: Workspace) -> tuple[Question, ...]:
    """The unanswered questions about the profile: which of two lines holds, and whether health may be noted."""
    asked = frozenset(open_questions(workspace.vault))
    return tuple(each for each in noted_questions(workspace.vault) if each.path in asked) if asked else ()
