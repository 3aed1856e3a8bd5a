"""What was answered in notes lately: enough to tell a request that goes round, and an answer that an editor took away.

A list of a day at most, by the wall clock, as it outlives the daemon (`pending` keeps it): a program that asks again
and again is not let go on because the daemon is started anew. What follows from it is `inbox`'s and `restoring`'s.
"""

from dataclasses import dataclass, replace

from agent.markdown.requests import RequestStatus

CYCLES, WINDOW = 3, 600.0
"""The same request, answered so often within so many seconds, is not a person's."""
DAY = 86_400.0
MOST = 500
RESTORES = 2
"""How often an answer is put back; whoever takes it out once more means it."""


@dataclass(frozen=True, slots=True)
class Given:
    """One answer in the note at `path`. `at` is in seconds since 1970; `key` the request's; `task`: it stands below a
    ticked task; `run` names its block. `commits` are those that brought it, the last of them to the path `name`; none
    where it is not to be put back."""

    path: str
    key: str
    at: float
    status: RequestStatus = "done"
    task: bool = False
    run: str = ""
    commits: tuple[str, ...] = ()
    name: str = ""


@dataclass(slots=True)
class Answers:
    """The answers of the last day, oldest first."""

    given: tuple[Given, ...] = ()

    def add(self, one: Given) -> None:
        """Take up an answer, and let go of what is old; a time that lies far ahead is of a clock that was wrong."""
        recent = [each for each in self.given if abs(one.at - each.at) < DAY]
        self.given = (*recent, one)[-MOST:]

    def swap(self, old: Given, new: Given) -> None:
        """Put another in the place of one."""
        self.given = tuple(new if each == old else each for each in self.given)

    def move(self, source: str, path: str) -> None:
        """The note has another path."""
        if any(each.path == source for each in self.given):
            self.given = tuple(replace(each, path=path) if each.path == source else each for each in self.given)

    def let_go(self, path: str) -> None:
        """The note is gone: its answers are not put back, should there be another of that name; they still count."""
        if any(each.path == path and each.commits for each in self.given):
            self.given = tuple(replace(each, commits=()) if each.path == path else each for each in self.given)

    def of(self, path: str) -> tuple[Given, ...]:
        """Those in a note."""
        return tuple(each for each in self.given if each.path == path)

    def goes_round(self, path: str, key: str, now: float) -> bool:
        """Whether this request was answered too often; `now` is in seconds since 1970."""
        return sum(each.key == key and abs(now - each.at) < WINDOW for each in self.of(path)) >= CYCLES

    def is_stopped(self, path: str, key: str, now: float) -> bool:
        """Whether this request was stopped, and has not been left in peace for long enough since; asking counts."""
        last = next((each for each in reversed(self.of(path)) if each.key == key), None)
        if last is None or last.status != "stopped" or abs(now - last.at) >= WINDOW:
            return False
        self.swap(last, replace(last, at=now))
        return True

    def ticked(self, path: str) -> set[str]:
        """The keys of the tasks that were ticked by us."""
        return {each.key for each in self.of(path) if each.task}
