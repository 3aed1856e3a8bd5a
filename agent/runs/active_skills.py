"""Which skills each run follows: put before its model when it begins, added as its tools tell more, written down after.

Which skills fit is `skills`'s. A run that was cut off and goes on in another process follows what its session's note
says it had: what a skill takes away from a run's tools is not given back by a crash.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from agent.context.assemble import REFRESH
from agent.context.source import Piece, Receipt
from agent.errors import AgentError
from agent.events.runs import (
    ChainCompleted,
    ChainStarted,
    IterationStarted,
    SkillActivated,
    SkillOpened,
    SkillRated,
    TaskCompleted,
)
from agent.events.subscriber import Injection
from agent.llm.messages import Context, Message
from agent.loop.records import Began, Spoken
from agent.loop.session import Session
from agent.memory.capture.writer import Addition
from agent.runs.skill_set import SkillSet
from agent.skills.history.feedback import record_opinion
from agent.skills.history.usage import Opinion, Use, history_rows, record_uses
from agent.skills.matching.matcher import MatchTask
from agent.skills.matching.selection import Match, MatchStatus
from agent.skills.matching.tool_allowlist import allowance
from agent.skills.reading.skill import Skill
from agent.texts import Language
from agent.tools.builtin.skills import beside
from agent.tools.tool import RunContext, Tool
from agent.vault.change import Stamp

NAME = "skills"
_CATALOGUE = 4
"""The catalogue may have a fourth of the room."""
_PATTERN = 60
"""Characters of a signal in a receipt: a pattern may be long; `skills match --explain` shows it whole."""
_LINE = 160
"""Characters of a skill's line in it."""
_FRAME = 60
"""Tokens for what stands around a skill's text."""
_PRIORITY = 60
_KEPT = 500
"""Runs whose skills are remembered."""
_HEADING = re.compile(r"^## Skill: ([\w-]+) \(confidence (\d{1,3})%\)$", re.MULTILINE)


@dataclass(slots=True)
class _InRun:
    """The skills of one run: those put before its model, and those that the model has read of itself."""

    session: str
    active: dict[str, Match] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    tools: frozenset[str] = frozenset()


@dataclass(slots=True)
class ActiveSkills:
    """The skills of the runs of one vault. May be used by several threads."""

    skills: SkillSet
    tell: Callable[[object], object]
    _runs: OrderedDict[str, _InRun] = field(default_factory=OrderedDict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def source(self, context: RunContext, session: Session) -> "SkillsSource":
        """What the tasks of a run are given; a run that goes on still follows what it followed before.

        A run without a name is none: it shows what one would follow, until `drop`, and nobody is told.
        """
        with self._lock:
            if context.role == "owner" and context.run not in self._runs:
                self.skills.library.refresh()
                if context.run:
                    with suppress(AgentError):  # it is trusted already where only its note cannot be written now
                        self.skills.ticked()
                found = self._runs[context.run] = _InRun(session.path)
                found.active |= self._again(session, context.run)
                while len(self._runs) > _KEPT:
                    self._runs.popitem(last=False)
        return SkillsSource(self, context, tuple(_texts(session.history)))

    def _again(self, session: Session, run: str) -> dict[str, Match]:
        """What a run followed before it stopped, by name; with what speaks for it now in the words of its task."""
        before = {match.skill.name: match for match in _before(session, run, self.skills.library.snapshot().get)}
        task = next((event.task for event in session.of_run(run) if isinstance(event, Began)), "") if before else ""
        weighed = self.skills.match(MatchTask(task)).matches if task else ()
        signals = {match.skill.name: match.signals for match in weighed}
        return {name: replace(match, signals=signals.get(name, ())) for name, match in before.items()}

    def refreshed(self, event: IterationStarted) -> tuple[Injection, ...]:
        """A step begins: the skills that fit now, by the tools used, and that the model does not have yet."""
        with self._lock:
            run, tools = self._runs.get(event.run), frozenset(event.tools)
            if run is None or not self.skills.settings.auto or tools <= run.tools:
                return ()
            run.tools = tools
            task = MatchTask(event.task, tuple(event.tools))
            matched = self.skills.match(task, event.session, run.active, REFRESH - _FRAME)
            room = self.skills.settings.most - len(run.active)
            taken = {each.skill.exclusive_group for each in run.active.values()} - {""}
            fresh = [each for each in matched.active if each.skill.exclusive_group not in taken]
            added = fresh[: max(room, 0)]
            self._activate(event.run, added)
            return tuple(Injection(shown(each), NAME, _PRIORITY, (_receipt(each),)) for each in added)

    def pieces(self, task: str, room: int, context: RunContext, before: Sequence[str] = ()) -> Sequence[Piece]:
        """What a task is given of skills: the texts of those that fit, then the catalogue of the others; what the model
        has `before` it still, from an earlier task of the session, is not said twice."""
        if not self.skills.settings.auto or context.role != "owner":
            return ()
        with self._lock:
            limit = room // _CATALOGUE
            matched = self.skills.match(MatchTask(task), context.session, room=room - limit - _FRAME)
            self._activate(context.run, matched.active)
            pieces = [
                Piece(shown(each, before), NAME, 1.0 + each.score, _receipt(each))
                for each in matched.active
                if each.text
            ]
            near = {each.skill.key for each in matched.reference}
            text = catalogue(matched.catalogue, near, limit, self.skills.count)
            return [*pieces, Piece(text, NAME)] if text and not _is_in(text, before) else pieces

    def leaves(self, tool: Tool, context: RunContext) -> bool:
        """Whether the skills that a run follows, and those of the runs it works for, leave it a tool."""
        with self._lock:
            for run in _line(context.run):
                found = self._runs.get(run)
                allowed = allowance(each.skill for each in found.active.values()) if found is not None else None
                if allowed is not None and not allowed.keeps(tool.name, tool.groups):
                    return False
        return True

    def opened(self, name: str, context: RunContext) -> None:
        """The model of a run has read a skill of itself; from now on it can say what the skill was worth."""
        with self._lock:
            run = self._runs.get(context.run)
            if run is None or name in run.active or name in run.read:
                return
            run.read.add(name)
        self.tell(SkillOpened(context.run, context.session, name))

    def say(self, name: str, opinion: Opinion, context: RunContext) -> Use:
        """What a model says of a skill in its run; raises `UserError` when the run did not have it."""
        with self._lock:
            run, vault, now = (
                self._runs.get(context.run),
                self.skills.workspace.vault,
                self.skills.workspace.clock.now(),
            )
            root = context.run.partition(".")[0]
            if run is None or name not in {*run.active, *run.read}:
                return record_opinion(vault, name, opinion, now, root, root, self._language)
            found = Use(name, now, root, context.session, activated="feedback", feedback=opinion)
            record_uses(vault, [found], Stamp("agent", run=context.run, tool="skill_feedback"), self._language)
        self.tell(SkillRated(name, root, opinion))
        return found

    def endnote(self, run: str) -> str:
        """What a person is asked at the end of a run's note; empty where it followed no skill."""
        with self._lock:
            found = self._runs.get(run)
            names = [] if found is None else [*found.active]
        return self.skills.boxes(names)

    def additions(self, event: TaskCompleted) -> Sequence[Addition]:
        """A run is over: which skills it and the runs that worked for it had, for their histories."""
        with self._lock:
            found = {use.name: use for run in self._of(event.run) for use in self._uses(run, event)}
        return [Addition(*row) for row in history_rows(tuple(found.values()), self._language)]

    def over(self, event: TaskCompleted) -> None:
        """All about a run is written down: what keeps failing is put aside, and the run forgotten."""
        with self._lock:
            runs = [self._runs.pop(run) for run in self._of(event.run)]
        skills = {name: each.skill for run in runs for name, each in run.active.items()}
        for name, skill in skills.items():
            if skill.chain:
                self.tell(ChainCompleted(event.run, event.session, name, event.outcome))
        self.skills.put_aside(skills.values())

    def drop(self, run: str) -> None:
        """Forget what a run follows."""
        with self._lock:
            self._runs.pop(run, None)

    @property
    def _language(self) -> Language:
        return self.skills.workspace.settings.vault.language

    def _of(self, run: str) -> list[str]:
        return [each for each in self._runs if run in _line(each)]

    def _uses(self, run: str, event: TaskCompleted) -> Iterator[Use]:
        found, now, calls = self._runs[run], event.at or self.skills.workspace.clock.now(), len(event.tools)
        for name, each in found.active.items():
            why = "; ".join(f"{signal.type} {signal.detail}" for signal in each.signals)
            yield Use(name, now, event.run, event.session, "auto", each.score, why, event.outcome, calls)
        for name in sorted(found.read - found.active.keys()):
            yield Use(name, now, event.run, event.session, "manual", outcome=event.outcome, tools=calls)

    def _activate(self, run: str, matches: Iterable[Match]) -> None:
        found = self._runs.get(run)
        if found is None:
            return
        for each in matches:
            found.active[each.skill.name] = each
            if not run:
                continue
            self.skills.used(found.session, each.skill.name)
            self.tell(SkillActivated(run, found.session, each.skill.name, each.score))
            if each.skill.chain:
                self.tell(ChainStarted(run, found.session, each.skill.name))


@dataclass(frozen=True, slots=True)
class SkillsSource:
    """The source of what the tasks of one run are given of skills."""

    following: ActiveSkills
    context: RunContext
    before: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return NAME

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """The texts of the skills that fit, the best first, and the others in a line each."""
        return self.following.pieces(task, room, self.context, self.before)


def shown(found: Match, before: Sequence[str] = ()) -> str:
    """An active skill as the model sees it; without its text where the model has just that `before` it still."""
    skill = found.skill
    lines = [f"## Skill: {skill.name} (confidence {found.score:.0%})", "It fits this task. Follow its steps."]
    if _is_in(found.text, before):
        return "\n".join([*lines, "They stand further up."])
    if skill.prerequisites:
        lines.append(f"Do first: {', '.join(f'`{name}` (skill_show {name})' for name in skill.prerequisites)}")
    if skill.product is not None and skill.product.format:
        kind = skill.product.artifact_type or "note"
        lines.append(
            f"Give the result as {skill.product.format}{f', in a {kind} of its own' * skill.product.artifacts}."
        )
    return "\n\n".join(filter(None, ["\n".join(lines), found.text, beside(skill)]))


def catalogue(skills: Iterable[Skill], near: set[str], room: int, count: Callable[[str], int]) -> str:
    """Skills that are not active, a line each, in about `room` tokens; strangers' are left out.

    Those that are near the task come first, and say so.
    """
    others = sorted((skill for skill in skills if skill.reviewed), key=lambda each: each.key not in near)
    lines = ["Other skills; read one with skill_show before doing work of its kind:"]
    left = room - count(lines[0])
    for number, skill in enumerate(others):
        line = f"- `{skill.name}`: {_shortened(skill.summary, _LINE)}" + (
            " (may fit this task)" if skill.key in near else ""
        )
        left -= count(line) + 1
        if left < 0:
            lines.append(f"and {len(others) - number} more: skill_list")
            break
        lines.append(line)
    return "\n".join(lines) if others else ""


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _line(run: str) -> list[str]:
    """A run, and the runs that it works for: `a`, `a.b`, `a.b.c`."""
    parts = run.split(".")
    return [".".join(parts[:number]) for number in range(1, len(parts) + 1)]


def _is_in(text: str, texts: Sequence[str]) -> bool:
    return any(text in each for each in texts)


def _texts(messages: Iterable[Message]) -> Iterator[str]:
    """What messages say of skills."""
    return (each.text for each in messages if isinstance(each, Context) and each.source == NAME)


def _before(session: Session, run: str, find: Callable[[str], Skill | None]) -> Iterator[Match]:
    """The skills that a session's note says were put before the model in a run."""
    said = [event.message for event in session.of_run(run) if isinstance(event, Spoken)]
    for name, score in (found for text in _texts(said) for found in _HEADING.findall(text)):
        skill = find(name)
        if skill is not None:
            yield Match(skill, (), int(score) / 100, 1.0, int(score) / 100, 0.0, MatchStatus.PRESENT)


def _receipt(found: Match) -> Receipt:
    skill = found.skill
    why = ", ".join(f"{signal.type} {_shortened(signal.detail, _PATTERN)}" for signal in found.signals)
    return Receipt(skill.path, (skill.body_line, skill.body_line + skill.body.count("\n")), None, found.score, why)
