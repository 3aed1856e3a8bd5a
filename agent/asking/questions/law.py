"""The law of questions: how many may wait for the person at once, and that none is asked twice.

It holds for what nothing waits for: what the agent is curious of, tasks that fill gaps, the profile. One is asked at a
time, and only while fewer than `MOST_OPEN` wait for an answer, whoever asked these. What nobody has prompted also keeps
to good hours (`growth.curiosity.look`); the profile asks about what the person has just said, and a task of theirs
when it is done.

A question that a run waits for is another thing: work that the person wants done stands still without its answer, so it
is asked at once, however many wait. The same holds for sync. Both count as open for all others.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import PurePosixPath

from agent.asking.questions.notes import AskedQuestion, asked_questions
from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.vault.folders import QUESTIONS
from agent.vault.history.find import commits
from agent.vault.store import Vault

MOST_OPEN = 2
"""The most questions that wait for an answer when one is asked that nothing waits for, with that one."""
KEY_LENGTH = 12
"""The characters of a question's key; its note is named by half of them at least."""
ASKS = "question(ask): "
"""What the subject of a commit with a question begins with."""
CURIOSITY = "curiosity"
"""The tool of a commit that asks what nobody has prompted."""
_KEYS = ("gap", "profile")
"""The keys of a header with the key of what is asked about."""
_NAMED = re.compile(r"-([0-9a-f]{6,12})$")


@dataclass(frozen=True, slots=True)
class EverAsked:
    """What was ever asked about, also in notes that are gone: the `keys`, which may be shortened, the questions in one
    line each (`titles`), and when those were put that nobody has prompted (`times`)."""

    keys: frozenset[str] = frozenset()
    titles: tuple[str, ...] = ()
    times: tuple[datetime, ...] = ()

    def has(self, key: str) -> bool:
        """True if this was asked about."""
        return any(key.startswith(each) for each in self.keys)


def waits_for_answer(asked: AskedQuestion) -> bool:
    """True for a question that the person has before them."""
    return asked.is_open and not asked.answer


def may_ask_one(asked: Iterable[AskedQuestion]) -> bool:
    """True if one more question may be asked that nothing waits for."""
    return sum(map(waits_for_answer, asked)) < MOST_OPEN


def ever_asked(vault: Vault) -> EverAsked:
    """What was ever asked about. Reads the history of `questions/`: ask for it when there is something to ask."""
    there = tuple(asked_questions(vault))
    keys = {key for each in there if (key := key_of(each.note))}
    titles, times = [each.title for each in there], list[datetime]()
    for commit in commits(vault, path=vault.home.at(QUESTIONS).rstrip("/")):
        paths = (path for each in commit.files if (path := each.path) and vault.home.holds(path, QUESTIONS))
        keys |= {found[1] for path in paths if (found := _NAMED.search(PurePosixPath(path).stem))}
        if commit.subject.startswith(ASKS):
            titles += [commit.subject.removeprefix(ASKS), title_in(commit.body)]
            times += [commit.when] if commit.tool == CURIOSITY else []
    return EverAsked(frozenset(keys), tuple(filter(None, dict.fromkeys(titles))), tuple(sorted(times)))


def asking_body(title: str, why: str) -> str:
    """The body of a commit that asks: the whole question, as a subject is cut."""
    return f"{title}\n\n{why}"


def title_in(body: str) -> str:
    """The question in the body of a commit that asks."""
    return " ".join(body.partition("\n\n")[0].split())


def key_of(note: Note) -> str:
    """The key of what a question is about; empty for one that a run waits for."""
    return next(filter(None, (note.string(key) for key in _KEYS)), "")
