"""The evening of a day: its words come into the day's note, and what has waited is committed, in one commit.

A model words the day, in one call; without one, or if it fails, the titles stand there. What comes after these words
is worded with them once more, in the first turn of the next day. While the daemon was off in the evening, that is done
when it starts again.
"""

import logging
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta

from agent.clock import in_clock_zone
from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.errors import AgentError, NoteGone
from agent.llm.messages import Assistant, Request, User
from agent.loop.session import load_session
from agent.memory import daily
from agent.memory.store import entries_on_day
from agent.memory.upkeep.day_summary import DayPiece, DayReading
from agent.records.table import Table
from agent.runs.accounts import Accounts
from agent.runs.decisions import approvals, open_questions
from agent.runs.diary import Diary
from agent.texts import text
from agent.vault.waiting import commit_waiting, waiting_notes
from agent.workspace.workspace import Workspace

AFTER = timedelta(minutes=15)
"""How long after the hour the evening begins: what is done at that hour itself is in it."""
_ANSWER_TOKENS = 1_200

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LastEvening:
    """The last evening that is over: the day, and how many tasks the day's log had when it was put into words (-1: a
    model was to do that, and failed)."""

    day: date
    tasks: int = 0


@dataclass(frozen=True, slots=True)
class Evening:
    """The evenings of one vault; `accounts` opens the models of now."""

    workspace: Workspace
    accounts: Callable[[], Accounts]
    tell: Callable[[object], object]

    def is_due(self) -> bool:
        """True if an evening has come, or has left something because git was busy, or something came after the words of
        a day that is over."""
        last, day = self._last.get(), self._day()
        if self._has_left(day):
            return True
        return self._tasks(day) > 0 if last is None or last.day < day else self._came_later(last)

    def keep(self) -> None:
        """Put the day into words, and commit what waits. Raises what a transaction raises."""
        last, day = self._last.get(), self._day()
        if last is None or last.day < day:
            if last is not None and last.day < day - timedelta(days=1) and self._came_later(last):
                self._put(last.day)
            tasks = self._put(day)
            commit_waiting(self.workspace.vault)
            self._last.put(LastEvening(day, tasks))
        elif self._came_later(last):
            self._put(last.day)
            self._last.put(LastEvening(last.day, self._tasks(last.day)))
        if self._has_left(day):
            commit_waiting(self.workspace.vault)

    def _has_left(self, day: date) -> bool:
        """True if something waits that was there before the evening of a day began."""
        begin = self._begin(day).timestamp()
        return any(note.since < begin for note in waiting_notes(self.workspace.vault))

    def _day(self) -> date:
        """The day of the last evening that has begun."""
        now = self.workspace.clock.now()
        return now.date() if now >= self._begin(now.date()) else now.date() - timedelta(days=1)

    def _begin(self, day: date) -> datetime:
        """When the evening of a day begins."""
        hour = self.workspace.settings.memory.evening
        return in_clock_zone(datetime.combine(day, time(hour)), self.workspace.clock.now()) + AFTER

    def _came_later(self, last: LastEvening) -> bool:
        """True if the day is over, and has more than its words know."""
        return self.workspace.clock.now().date() > last.day and self._tasks(last.day) != last.tasks

    def _put(self, day: date) -> int:
        """Write the words of a day, or its titles; returns how many tasks these know, -1 if a model has failed."""
        tasks, words = self._tasks(day), ""
        try:
            words = self._words(day) if tasks else ""
        except (AgentError, OSError, ValueError, RecursionError) as error:
            logger.info("%s is not put into words by a model: %s", day, error)
            tasks = -1
        Diary(self.workspace, tell=self.tell).summarise(day, words)
        return tasks

    def _words(self, day: date) -> str:
        """A model's words for a day; empty without a model, or if nothing in its answer can be relied on."""
        models, vault = self.accounts(), self.workspace.vault
        reading = DayReading(tuple(self._pieces(day)))
        if not models.models.fast.model.present or not reading.pieces:
            return ""
        language = self.workspace.settings.vault.language
        named = text("prompt.language", language)
        prompt = fill("evening", vault.own_version_of, day=reading.question(), language=named)
        models_of_run = models.of_run(f"evening-{self.workspace.clock.new_id()}", "")
        reply = models_of_run.fast.chat(Request((User(prompt),), max_output=_ANSWER_TOKENS))
        return reading.words(reply.message.text, language)

    def _pieces(self, day: date) -> Iterator[DayPiece]:
        """The events of a day: what was asked and answered, what was stated, and what waits for the person."""
        vault = self.workspace.vault
        for task in daily.log(self._note(day)):
            answer = self._answer(task.session.strip("[]")) if task.session else ""
            words = "\n".join(filter(None, (f"{task.time} {task.title}", answer)))
            yield DayPiece("asked and answered", vault.masked(words), task.session)
        for entry in entries_on_day(vault, day).new:
            kind = entry.entry.slots.get("kind", "") or "stated"
            yield DayPiece(kind, vault.masked(entry.entry.text), entry.link)
        for asked in approvals(self.workspace).pending():
            yield DayPiece("waits for a yes", vault.masked(asked.question or asked.name), _link(asked.path))
        for question in open_questions(self.workspace):
            yield DayPiece("waits for an answer", vault.masked(question.text), _link(question.path))

    def _answer(self, session: str) -> str:
        """The last answer in a session; nothing where a stranger's text may stand in it again, or from a guest's."""
        try:
            found = load_session(self.workspace.vault, f"{session}.md")
        except (NoteGone, AgentError):
            return ""
        if found.untrusted_for("owner"):
            return ""
        answers = (each.text for each in reversed(found.history) if isinstance(each, Assistant) and each.text.strip())
        return next(answers, "")

    def _tasks(self, day: date) -> int:
        return len(daily.log(self._note(day)))

    def _note(self, day: date) -> str:
        vault = self.workspace.vault
        return (vault.own_version(vault.home.day_note(day)) or b"").decode("utf-8", "replace")

    @property
    def _last(self) -> Table[LastEvening]:
        return Table(self.workspace.vault.records, "evening", LastEvening, is_flushed=False)


def _link(path: str) -> str:
    return f"[[{path.removesuffix('.md')}]]"
