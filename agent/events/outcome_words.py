"""How a run has ended, in words for the subject of a commit, and read from one in whichever language."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from agent.texts import LANGUAGES, Sentence, translated

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


_RECORD = re.compile(r"(?:session: ([\w ]+)|inbox\(([\w ]+)\))(?:: |：)(.+)")


def parse_record_subject(subject: str) -> tuple[str, str] | None:
    """The outcome (as `RunOutcome` has it) and the task in the subject of a commit with the record of a run, or with
    the answer in a note; None for any other."""
    found = _RECORD.fullmatch(subject)
    if found is None:
        return None
    words = found[1] or found[2]
    spoken = ("en",) if words.isascii() else LANGUAGES
    said = (key for key, sentence in _WORDS.items() for each in spoken if translated(sentence, each) == words)
    return next(said, words.replace(" ", "_")), found[3]


def session_subject(outcome: str, task: str) -> Sentence:
    """The subject of a commit with the record of a run."""
    words = _WORDS.get(outcome, outcome.replace("_", " "))
    return Sentence("session: {outcome}: {task}", outcome=words, task=task)
