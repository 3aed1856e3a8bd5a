"""The skills of one vault put together: found for a task, put before the model, counted when the run is over.

Each run's handlers are subscribed by whoever builds the runs: `begun`, `refreshed`, `ended`. What a skill is and when
it fits is `agent.skills`'s; what of it the model is shown is decided here.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent.app.build import App
from agent.config.resources import resource
from agent.context.budget import Count
from agent.context.source import Piece, Receipt
from agent.errors import AgentError
from agent.events.runs import IterationStarted, TaskCompleted, TaskStarted
from agent.events.subscriber import Injection
from agent.index.embedder import Embedder
from agent.skills.allowed import Allowance, allowance
from agent.skills.conflicts import Limits, Match
from agent.skills.feedback import History, give, put_aside
from agent.skills.library import Library, places
from agent.skills.matcher import Matched, State, Task, match
from agent.skills.review_note import ask, decided
from agent.skills.reviewed import Pins
from agent.skills.similarity import Similarity
from agent.skills.skill import Skill
from agent.skills.tree import BadFolder
from agent.skills.usage import Opinion, Use, record, uses
from agent.tools.builtin.skills import beside
from agent.tools.tool import RunContext
from agent.vault.write.change import Stamp

NAME = "skills"
_CATALOGUE = 4
"""The catalogue may have a fourth of the room."""
_LINE = 160
_PRIORITY = 60
_KEPT = 500
"""Runs whose skills are remembered."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _InRun:
    """The skills of one run: those put before its model, with how well they fit."""

    session: str
    active: dict[str, Match] = field(default_factory=dict)
    tools: frozenset[str] = frozenset()


@dataclass(slots=True)
class Skills:
    """One vault's skills. May be used by several threads."""

    app: App
    library: Library
    history: History
    embedder: Callable[[], Embedder | None]
    count: Count
    tell: Callable[[str], None] = logger.warning
    _similarity: Similarity | None = None
    _runs: dict[str, _InRun] = field(default_factory=dict)
    _tasks: dict[str, str] = field(default_factory=dict)
    _used: dict[tuple[str, str], float] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def match(self, task: Task, session: str = "", present: Iterable[str] = (), room: int | None = None) -> Matched:
        """Which skills fit a task now; nothing is remembered of it."""
        with self._lock:
            shelf = self.library.shelf()
            skills = shelf.candidates
            wanting = [skill for skill in skills if skill.conditions]
            near = self._near(task.text, wanting) if wanting else {}
            factors = self.history.factors(skill.name for skill in skills if skill.has_triggers)
            state = State(self._since(session, skills), factors, near, frozenset(present))
            limits = Limits() if room is None else Limits(room=min(Limits().room, room))
            return match(task, shelf, state, self.count, limits)

    def begun(self, event: TaskStarted) -> None:
        """A run begins: what is put before its model from now on counts as used in it."""
        with self._lock:
            self.library.refresh()
            for old in [*self._runs][: max(len(self._runs) - _KEPT, 0)]:
                self._runs.pop(old)
            self._runs[event.run] = _InRun(event.session)
            self._tasks.pop(event.task, None)
            self._tasks[event.task] = event.run
            for task in [*self._tasks][: max(len(self._tasks) - _KEPT, 0)]:
                self._tasks.pop(task)

    def refreshed(self, event: IterationStarted) -> tuple[Injection, ...]:
        """A step begins: the skills that fit now, by the tools used, and that the model does not have yet."""
        with self._lock:
            run = self._runs.setdefault(event.run, _InRun(event.session))
            tools = frozenset(event.tools)
            if tools <= run.tools:
                return ()
            run.tools = tools
            matched = self.match(Task(event.task, tuple(event.tools)), event.session, run.active)
            room = Limits().most - len(run.active)
            taken = {each.skill.exclusive_group for each in run.active.values()} - {""}
            fresh = [each for each in matched.active if each.skill.exclusive_group not in taken]
            added = fresh[: max(room, 0)]
            self._activate(event.run, added)
            return tuple(Injection(shown(each), NAME, _PRIORITY) for each in added)

    def ended(self, event: TaskCompleted) -> None:
        """A run is over, or pauses: write down which skills it had; put aside what keeps failing."""
        with self._lock:
            run = self._runs.get(event.run)
            if run is None or not run.active:
                return
            now = self.app.clock.now()
            rows = [
                Use(name, now, event.run, event.session, "auto", each.score,
                    "; ".join(f"{signal.type} {signal.detail}" for signal in each.signals), event.outcome,
                    len(event.tools))
                for name, each in run.active.items()
            ]  # fmt: skip
            record(self.app.vault, rows, Stamp("agent", run=event.run, tool=NAME, session=event.session))
            self._put_aside(each.skill for each in run.active.values())

    def say(self, name: str, opinion: Opinion, context: RunContext) -> Use:
        """What a model says of a skill in its run; raises `UserError` when the run did not have it."""
        with self._lock:
            run = self._runs.get(context.run)
            now = self.app.clock.now()
            if run is None or name not in run.active:
                return give(self.app.vault, name, opinion, now, context.run, context.run)
            found = Use(name, now, context.run, context.session, activated="feedback", feedback=opinion)
            record(self.app.vault, [found], Stamp("agent", run=context.run, tool="skill_feedback"))
            return found

    def person_says(self, name: str, opinion: Opinion, run: str = "") -> Use:
        """What the person says of a skill; raises `UserError` for a run that did not use it."""
        with self._lock:
            found = give(self.app.vault, name, opinion, self.app.clock.now(), self.app.clock.new_id(), run)
            skill = self.library.shelf().get(name)
            self._put_aside([skill] if skill is not None else [])
            return found

    def narrowing(self, run: str) -> Allowance | None:
        """The tools that the skills of a run leave it; None where none of them says anything."""
        with self._lock:
            found = self._runs.get(run)
            return allowance(each.skill for each in found.active.values()) if found is not None else None

    def changed(self, paths: Iterable[str]) -> None:
        """Files of the vault have changed."""
        self.library.changed(paths)

    def edited_here(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The person's own edits were committed in their name: what was trusted stays so. Returns the names."""
        return self.library.carry(paths, self.app.clock.now())

    def ask_reviews(self) -> tuple[str, ...]:
        """Write a note with a checkbox for each skill that nobody has looked at; returns the new notes' paths."""
        with self._lock:
            shelf = self.library.shelf()
            new = [skill for skill in shelf.candidates if not skill.reviewed]
            try:
                return ask(self.app.vault, self.library, new, self.app.clock.now())
            except (BadFolder, OSError) as error:
                self.tell(f"a skill could not be read, so it is not asked about yet: {error}")
                return ()

    def ticked(self, paths: Iterable[str]) -> tuple[tuple[str, bool], ...]:
        """These notes have changed: what the person has decided in them about skills, and whether each is trusted."""
        return decided(self.app.vault, self.library, paths, self.app.clock.now())

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """What a task is given of skills: the texts of those that fit, then the catalogue of the others."""
        with self._lock:
            run = self._tasks.get(task, "")
            session = self._runs[run].session if run in self._runs else ""
            limit = room // _CATALOGUE
            matched = self.match(Task(task), session, room=room - limit - 2 * _LINE // 4)
            self._activate(run, matched.active)
            pieces = [
                Piece(shown(each), NAME, 1.0 + each.score, _receipt(each)) for each in matched.active if each.text
            ]
            text = catalogue(matched, limit, self.count)
            return [*pieces, Piece(text, NAME)] if text else pieces

    def _activate(self, run: str, matches: Iterable[Match]) -> None:
        found = self._runs.get(run)
        if found is None:
            return
        for each in matches:
            found.active[each.skill.name] = each
            self._used[found.session, each.skill.name] = self.app.clock.monotonic()

    def _since(self, session: str, skills: Iterable[Skill]) -> Mapping[str, float]:
        """The seconds since each skill that needs rest was used in a session, by this process or another one."""
        found: dict[str, float] = {}
        for skill in skills:
            if not skill.cooldown or not session:
                continue
            at = self._used.get((session, skill.name))
            now = self.app.clock.now()
            times = [use.time for use in uses(self.app.vault, skill.name) if use.session == session]
            ago = [(now - time).total_seconds() for time in times]
            ago += [self.app.clock.monotonic() - at] if at is not None else []
            found |= {skill.name: max(min(ago), 0.0)} if ago else {}
        return found

    def _near(self, text: str, skills: Sequence[Skill]) -> Mapping[str, float]:
        if self._similarity is None:
            embedder = self.embedder()
            self._similarity = Similarity(embedder) if embedder is not None else None
        return self._similarity.near(text, skills) if self._similarity is not None else {}

    def _put_aside(self, skills: Iterable[Skill]) -> None:
        try:
            gone = put_aside(self.app.vault, skills, self.history, self.app.clock.now())
        except AgentError as error:
            self.tell(f"a learned skill that keeps failing could not be put aside: {error.message}")
            return
        for each in gone:
            self.tell(each.announcement)
        if gone:
            self.library.refresh()


@dataclass(frozen=True, slots=True)
class SkillsSource:
    """The source of what a task is given of skills."""

    skills: Skills

    @property
    def name(self) -> str:
        return NAME

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """The texts of the skills that fit, the best first, and the others in a line each."""
        return self.skills.pieces(task, room)


def skill_library(app: App) -> Library:
    """The skills of a vault, those of the package beside; the list of reviewed ones is this machine's."""
    package = Path(str(resource("skills")))
    return Library(places(app.vault.place.root, package), Pins(app.vault.writer.layout.folder / "reviewed"))


def skills(app: App, embedder: Callable[[], Embedder | None], count: Count) -> Skills:
    """Everything put together."""
    return Skills(app, skill_library(app), History.of(app.vault), embedder, count)


def shown(found: Match) -> str:
    """An active skill as the model sees it."""
    skill = found.skill
    lines = [f"## Skill: {skill.name} (confidence {found.score:.0%})", "It fits this task. Follow its steps."]
    if skill.prerequisites:
        lines.append(f"Do first: {', '.join(f'`{name}` (skill_show {name})' for name in skill.prerequisites)}")
    if skill.product is not None and skill.product.format:
        kind = skill.product.artifact_type or "note"
        lines.append(
            f"Give the result as {skill.product.format}{f', in a {kind} of its own' * skill.product.artifacts}."
        )
    return "\n\n".join(filter(None, ["\n".join(lines), found.text, beside(skill)]))


def catalogue(matched: Matched, room: int, count: Count) -> str:
    """The skills that are not active, a line each, in about `room` tokens; strangers' are left out.

    Those that are near the task come first, and say so.
    """
    near = {each.skill.key for each in matched.reference}
    others = sorted((skill for skill in matched.catalogue if skill.reviewed), key=lambda each: each.key not in near)
    lines = ["Other skills; read one with skill_show before doing work of its kind:"]
    left = room - count(lines[0])
    for number, skill in enumerate(others):
        summary = skill.summary if len(skill.summary) <= _LINE else skill.summary[: _LINE - 1] + "…"
        line = f"- `{skill.name}`: {summary}" + (" (may fit this task)" if skill.key in near else "")
        left -= count(line) + 1
        if left < 0:
            lines.append(f"and {len(others) - number} more: skill_list")
            break
        lines.append(line)
    return "\n".join(lines) if others else ""


def _receipt(found: Match) -> Receipt:
    skill = found.skill
    why = ", ".join(f"{signal.type} {signal.detail}" for signal in found.signals)
    return Receipt(skill.path, (skill.body_line, skill.body_line + skill.body.count("\n")), None, found.score, why)
