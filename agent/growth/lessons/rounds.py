"""Reflects on runs without being asked: on those that are worth it, on reactions that came later, and on all runs of a
day. Only a reflection that teaches something is written down, in one commit. `background` decides on the time.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta

from agent.config.growth_settings import ReflectionSettings
from agent.dataclass import dataclass
from agent.errors import LimitReached, NoteGone
from agent.growth.lessons.day_review import review_day, runs_of_day, sessions_since
from agent.growth.lessons.looks import PENDING, RunLook, load_looks, looks_at, note_look, occasion_of
from agent.growth.lessons.reflecting import Reflecting
from agent.growth.lessons.reflection import Reflection
from agent.growth.lessons.reflection_notes import load_reflections, write_reflection
from agent.llm.messages import Cancelled, never
from agent.loop.session import Session, load_session
from agent.runs.reactions import LOOKED_BACK, Reaction, later_reactions, reactions_in_session
from agent.runs.run_course import RunCourse, courses_in
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class ReflectionRound:
    """One round over what has happened, with the settings and the models of now."""

    reflecting: Reflecting

    @property
    def settings(self) -> ReflectionSettings:
        return self.reflecting.workspace.settings.reflection

    @property
    def now(self) -> datetime:
        return self.reflecting.workspace.clock.now()

    def recent_sessions(self) -> tuple[str, ...]:
        """The sessions of this machine in which something happened lately, for when nobody has watched."""
        vault = self.reflecting.vault
        found = sessions_since(vault, (self.now - PENDING).date())
        return tuple(path for path in found if vault.is_own_version(path, vault.content_id(vault.read(path) or b"")))

    def look_at_session(self, path: str, cancelled: Cancelled = never) -> Iterator[Reflection]:
        """Reflect on the runs in a session that are over and worth it, and on what the person said of them; each is
        written before it is returned. Raises what the model and a transaction raise."""
        try:
            session = load_session(self.reflecting.vault, path)
        except NoteGone:
            return
        for course in courses_in(self.reflecting.vault, session):
            if self.now - course.ended <= LOOKED_BACK and not cancelled():
                yield from self._look_at(session, course, (), cancelled)

    def look_at_edits(self, cancelled: Cancelled = never) -> Iterator[Reflection]:
        """Reflect on runs of the last days whose notes the person has changed or taken back since."""
        vault = self.reflecting.vault
        sessions: list[Session] = []
        for path in sessions_since(vault, (self.now - LOOKED_BACK).date()):
            with suppress(NoteGone):
                sessions.append(load_session(vault, path))
        courses = [(each, course) for each in sessions for course in courses_in(vault, each)]
        later = later_reactions(vault, [course.run for _, course in courses])
        for session, course in courses:
            if course.run in later and self.now - course.ended <= LOOKED_BACK and not cancelled():
                yield from self._look_at(session, course, later[course.run], cancelled)

    def review(self, day: date, cancelled: Cancelled = never) -> Reflection | None:
        """Look at a day; None if that taught nothing. It is looked at once: a day that has nothing to show, or for
        which there is no money left, is over with it."""
        reflecting, found, is_unread, is_asked = self.reflecting, None, False, False
        runs = runs_of_day(reflecting.vault, day)
        if reflecting.has_model and runs.is_worth_asking:
            with suppress(LimitReached):
                found = review_day(reflecting, runs, cancelled)
                is_unread, is_asked = found is None, True
        return self._written(found, RunLook(day.isoformat(), self.now, "day", is_unread=is_unread, is_asked=is_asked))

    def pass_over(self, day: date) -> None:
        """Let a day be over that cannot be looked at."""
        note_look(self.reflecting.vault, RunLook(day.isoformat(), self.now, "day", is_asked=False))

    def _look_at(
        self, session: Session, course: RunCourse, later: Sequence[Reaction], cancelled: Cancelled
    ) -> Iterator[Reflection]:
        reflecting, vault = self.reflecting, self.reflecting.vault
        if not reflecting.has_model or not self._has_room():
            return
        written = load_reflections(vault, (course.ended - timedelta(days=1)).date())
        looks = looks_at(vault, course.run, written)
        reactions = (*reactions_in_session(vault, session, course), *later)
        occasion = occasion_of(course, reactions, looks, self.settings, self.now)
        if occasion is None:
            return
        found = reflecting.on_run(course, reactions, occasion, cancelled)
        kinds = tuple(dict.fromkeys(each.kind for each in reactions))
        made = self._written(found, RunLook(course.run, self.now, occasion, kinds, is_unread=found is None))
        if made is not None:
            yield made

    def _has_room(self) -> bool:
        """True if the day has not had as many looks as it may."""
        today = self.now.date()
        looks = (each for each in load_looks(self.reflecting.vault) if each.at.date() == today)
        return sum(each.trigger != "day" for each in looks) < self.settings.per_day

    def _written(self, found: Reflection | None, look: RunLook) -> Reflection | None:
        """The reflection, written into its note, if it teaches something; in any case it is remembered as a look."""
        taught = found if found is not None and found.teaches else None
        if taught is not None:
            write_reflection(self.reflecting.vault, taught, self.reflecting.language)
        note_look(self.reflecting.vault, look)
        return taught


def day_to_review(vault: Vault, now: datetime, hour: int) -> date | None:
    """The day whose review is due: today from the hour on, else yesterday; None if it has one."""
    day = now.date() if now.hour >= hour else now.date() - timedelta(days=1)
    return None if is_reviewed(vault, day) else day


def is_reviewed(vault: Vault, day: date) -> bool:
    """True if a day was looked at, here or on another machine that has written down what it saw."""
    looked = any(each.trigger == "day" and each.run == day.isoformat() for each in load_looks(vault))
    return looked or any(each.trigger == "day" and each.at.date() == day for each in load_reflections(vault, day))
