"""How a run has ended, in words for the subject of a commit."""

from collections.abc import Mapping
from types import MappingProxyType

from agent.texts import Sentence

_WORDS: Mapping[str, Sentence] = MappingProxyType(
    {
        "finished": Sentence("finished"),
        "limit": Sentence("at a limit"),
        "needs_approval": Sentence("needs approval"),
        "question_asked": Sentence("question asked"),
        "interrupted": Sentence("interrupted"),
        "failed": Sentence("failed"),
    }
)


def session_subject(outcome: str, task: str) -> Sentence:
    """The subject of a commit with the record of a run."""
    words = _WORDS.get(outcome, outcome.replace("_", " "))
    return Sentence("session: {outcome}: {task}", outcome=words, task=task)
