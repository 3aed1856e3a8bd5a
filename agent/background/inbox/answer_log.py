"""The requests in notes that were answered lately: what was answered once is not answered again while its words are the
same, and a request that goes round is stopped.

Times are of the wall clock, as the list outlives the daemon (`queue` keeps it).
"""

from dataclasses import replace

from agent.dataclass import dataclass
from agent.markdown.requests import RequestStatus

CYCLES, WINDOW = 3, 600.0
"""The same request, answered so often within so many seconds, is not a person's."""
KEPT = 500
"""Answers that are remembered."""


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """One answer in the note at `path`. `at` is in seconds since 1970; `key` the request's; `task`: it stands below a
    ticked task; `run` names its block, empty where nothing was put into the note. `gone`: the note was deleted
    since."""

    path: str
    key: str
    at: float
    status: RequestStatus = "done"
    task: bool = False
    run: str = ""
    gone: bool = False


@dataclass(slots=True)
class AnswerLog:
    """The last answers, oldest first."""

    answers: tuple[LoggedAnswer, ...] = ()

    def add(self, one: LoggedAnswer) -> None:
        """Add an answer; forget the oldest when there are more than `KEPT`."""
        self.answers = (*self.answers, one)[-KEPT:]

    def move(self, source: str, path: str) -> None:
        """The note has another path."""
        self.answers = tuple(replace(each, path=path) if each.path == source else each for each in self.answers)

    def delete(self, path: str) -> None:
        """The note is gone: another of that name asks anew, whatever its words."""
        self.answers = tuple(replace(each, gone=True) if each.path == path else each for each in self.answers)

    def of(self, path: str) -> tuple[LoggedAnswer, ...]:
        """The answers in a note."""
        return tuple(each for each in self.answers if each.path == path)

    def last(self, path: str, key: str) -> LoggedAnswer | None:
        """The last answer to this request that was put into the note; None for none."""
        found = (each for each in reversed(self.of(path)) if each.key == key and each.run and not each.gone)
        return next(found, None)

    def goes_round(self, path: str, key: str, now: float) -> bool:
        """True if this request was answered too often; `now` is in seconds since 1970."""
        return sum(each.key == key and abs(now - each.at) < WINDOW for each in self.of(path)) >= CYCLES

    def is_stopped(self, path: str, key: str, now: float) -> bool:
        """True if this request was stopped less than `WINDOW` seconds ago; asking again restarts that time."""
        last = next((each for each in reversed(self.of(path)) if each.key == key), None)
        if last is None or last.status != "stopped" or abs(now - last.at) >= WINDOW:
            return False
        self.answers = tuple(replace(each, at=now) if each is last else each for each in self.answers)
        return True

    def ticked(self, path: str) -> set[str]:
        """The keys of the tasks that this program has ticked."""
        return {each.key for each in self.of(path) if each.task}
