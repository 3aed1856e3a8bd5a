"""Reflects when a person asks for it: on the last run, or a day, whatever the settings say."""

from collections.abc import Callable
from datetime import date

from agent.dataclass import dataclass
from agent.errors import LimitReached, NoteGone, UserError
from agent.growth.lessons.day_review import review_day, runs_of_day
from agent.growth.lessons.reflecting import Reflecting
from agent.growth.lessons.reflection import Reflection
from agent.growth.lessons.reflection_notes import write_reflection
from agent.llm.messages import Cancelled, never
from agent.loop.session import Session, load_session, sessions
from agent.runs.reactions import later_reactions, reactions_in_session
from agent.runs.run_course import RunCourse, courses_in
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class ReflectedByHand:
    """A reflection. If it taught something it was written (`is_written`), with its commit (None: it waits)."""

    reflection: Reflection
    is_written: bool = False
    commit: str | None = None


def reflect_on_last_run(reflecting: Reflecting, cancelled: Cancelled = never) -> ReflectedByHand:
    """Reflect on the last run that is over; raises `UserError` if there is none, or without a model, and what the model
    and a transaction raise."""
    vault = reflecting.vault
    session, course = _last(vault)
    reflecting.require_model()
    reactions = reactions_in_session(vault, session, course)
    reactions += later_reactions(vault, {course.run}).get(course.run, ())
    return _written(reflecting, lambda: reflecting.on_run(course, reactions, "task", cancelled))


def reflect_on_day(reflecting: Reflecting, day: date, cancelled: Cancelled) -> ReflectedByHand:
    """Review a day; raises `UserError` for one without runs that may be shown, or without a model, and what the model
    and a transaction raise."""
    runs = runs_of_day(reflecting.vault, day)
    if not runs.clean:
        raise UserError("no run ended on {day}", hint="vault-agent log lists what was done when", day=day.isoformat())
    reflecting.require_model()
    return _written(reflecting, lambda: review_day(reflecting, runs, cancelled))


def _written(reflecting: Reflecting, ask: Callable[[], Reflection | None]) -> ReflectedByHand:
    try:
        found = ask()
    except LimitReached as error:
        raise UserError("the model is not asked: {why}", hint=error.hint, why=error.message) from error
    if found is None:
        raise UserError("the model's answer cannot be read", hint="ask again; the log has how it began")
    if not found.teaches:
        return ReflectedByHand(found)
    return ReflectedByHand(found, True, write_reflection(reflecting.vault, found, reflecting.language))


def _last(vault: Vault) -> tuple[Session, RunCourse]:
    """The last run that is over, of those in the newest session that has one."""
    best: tuple[Session, RunCourse] | None = None
    for path in sessions(vault):
        try:
            session = load_session(vault, path)
        except (NoteGone, OSError):
            continue
        if best is not None and session.last is not None and session.last < best[1].ended:
            continue
        for course in courses_in(vault, session):
            if best is None or course.ended > best[1].ended:
                best = session, course
    if best is None:
        raise UserError("no run is over yet", hint='vault-agent ask "…"')
    return best
