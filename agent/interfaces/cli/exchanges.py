"""The last exchanges of a session, shortened: for a person who takes up a conversation."""

from agent.llm.messages import Assistant, User
from agent.loop.records import Began, Spoken
from agent.loop.session import Session

SHOWN = 2
"""Exchanges: enough to know where the talk was, on half a screen."""
_ASKED, _ANSWERED = 200, 500
"""The most characters of a message and of its answer."""


def last_exchanges(session: Session) -> list[tuple[str, str]]:
    """The last messages of people with the answers, oldest first; an answer is empty if there was none. Not the tasks
    of jobs that went on in the session.

    A message that got no answer and was sent again is there once.
    """
    found: list[tuple[str, str]] = []
    is_of_job = False
    for record in session.records:
        match record.event:
            case Began(job=job):
                is_of_job = bool(job)
            case _ if is_of_job:
                pass
            case Spoken(User(text=asked)):
                exchange = (beginning(" ".join(asked.split()), _ASKED), "")
                found += [exchange] if found[-1:] != [exchange] else []
            case Spoken(Assistant(text=answered)) if answered.strip() and found:
                found[-1] = (found[-1][0], beginning(answered.strip(), _ANSWERED))
            case _:
                pass
    return found[-SHOWN:]


def beginning(text: str, most: int) -> str:
    """The text, or its beginning up to a word's end if it is longer; `most` counts characters."""
    if len(text) <= most:
        return text
    words = text[:most].rpartition(" ")[0]
    return f"{words if len(words) > most // 2 else text[:most]} …"
