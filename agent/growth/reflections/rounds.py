"""What is done about runs without being asked: which of them are reflected on now, the reactions that came later, and
the review of a day. Each reflection is one commit; what was reflected on is known from the notes alone.

When it is time for it, is decided in `background`.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta

from agent.config.growth_settings import ReflectionSettings
from agent.dataclass import dataclass
from agent.errors import AgentError, LimitReached, NoteGone
from agent.growth.reflections.choice import is_known, new_reactions, why_look
from agent.growth.reflections.course import RunCourse, courses_in
from agent.growth.reflections.day import counted_day, review_day, runs_of_day, sessions_since
from agent.growth.reflections.error_record import COMPLAINT, errors_of
from agent.growth.reflections.reactions import LOOKED_BACK, Reaction, later_reactions, reactions_in_session
from agent.growth.reflections.reflecting import Reflecting
from agent.growth.reflections.reflection import Reflection
from agent.growth.reflections.store import load_reflections, write_reflection
from agent.growth.reflections.unread import note_answer
from agent.llm.messages import Cancelled, never
from agent.loop.session import Session, load_session

PENDING = timedelta(days=1)
"""How long a run that is over waits to be reflected on, such as while no model can be asked; then it is counted."""


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

    def review(self, day: date, cancelled: Cancelled = never, *, is_last_try: bool = False) -> Reflection | None:
        """Review a day; None if there was no run on it. What there is no money for is counted, and at the last try what
        the model fails at."""
        runs = runs_of_day(self.reflecting.vault, day)
        if not runs.courses:
            return None
        try:
            found = review_day(self.reflecting, runs, cancelled)
        except AgentError as error:
            if not is_last_try and not isinstance(error, LimitReached):
                raise
            found = counted_day(self.reflecting, runs)
        return self._written(found)

    def _look_at(
        self, session: Session, course: RunCourse, later: Sequence[Reaction], cancelled: Cancelled
    ) -> Iterator[Reflection]:
        reflecting, vault = self.reflecting, self.reflecting.vault
        known = load_reflections(vault, (course.ended - timedelta(days=1)).date())
        about = [each for each in known if course.run in each.runs and each.trigger != "day"]
        reactions = (*reactions_in_session(vault, session, course), *later)
        errors = [each for each in errors_of(session, course.run) if not each.failure.startswith(COMPLAINT)]
        may_ask = reflecting.has_model and self._has_room(known)
        is_fresh = self.now - course.ended <= PENDING and not is_known(course.run, about)
        if is_fresh and may_ask and why_look(course, reactions, self.settings) is not None:
            yield self._written(reflecting.on_run(course, reactions, errors, cancelled))
            return
        if errors and not about:
            yield self._written(reflecting.of_errors(course, errors))
        fresh = new_reactions(course.run, reactions, about, self.settings)
        if fresh and may_ask and not course.is_guests:
            yield self._written(reflecting.on_feedback(course, reactions, cancelled))

    def _has_room(self, known: Sequence[Reflection]) -> bool:
        """True if the day has not had as many reflections of a model as it may."""
        today = self.now.date()
        asked = (each for each in known if each.at.date() == today and each.trigger in ("task", "feedback"))
        return sum(1 for each in asked if not each.is_plain) < self.settings.per_day

    def _written(self, reflection: Reflection) -> Reflection:
        """The reflection, written into its note. Of answers in a row that cannot be read, the first one stands there;
        of the others it is only noted that their runs were looked at."""
        if note_answer(self.reflecting.vault, reflection):
            reflection = replace(reflection, heading="", kept="-", sessions=(), notes=())
        write_reflection(self.reflecting.vault, reflection, self.reflecting.language)
        return reflection
