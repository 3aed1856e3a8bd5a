"""The skills that each run follows: given to its model at the start, added as it uses tools, recorded at the end.

Matching skills to a task is left to `agent.skills`. A run that resumes in another process follows the skills in its
session's note, so that a crash does not give back the tools that a skill took away.
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
from agent.events.subscriber import Injection, InjectionType
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
"""The catalogue gets at most this fraction of the room: one fourth."""
_PATTERN = 60
"""Characters of a signal in a receipt: a pattern may be long; `skills match --explain` shows it whole."""
_LINE = 160
"""Characters of a skill's line in the catalogue."""
_FRAME = 60
"""Tokens for the text around a skill's own text."""
_PRIORITY = 60
_KEPT = 500
"""Runs whose skills are kept in memory."""
_HEADING = re.compile(r"^## Skill: ([\w-]+) \(confidence (\d{1,3})%\)$", re.MULTILINE)


@dataclass(slots=True)
class _InRun:
    """The skills of one run: `active` were given to its model, `read` were opened by the model itself."""

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
        """The source of skills for the tasks of a run; a resumed run keeps the skills that it followed before.

        An empty run id is a preview: it shows the skills that a run would follow, until `drop`, and publishes nothing.
        """
        with self._lock:
            if context.role == "owner" and context.run not in self._runs:
                self.skills.library.refresh()
                if context.run:
                    with suppress(AgentError):  # the trust is saved even if the note cannot be written
                        self.skills.ticked()
                found = self._runs[context.run] = _InRun(session.path)
                found.active |= self._again(session, context.run)
                while len(self._runs) > _KEPT:
                    self._runs.popitem(last=False)
        return SkillsSource(self, context, tuple(_texts(session.history)))

    def _again(self, session: Session, run: str) -> dict[str, Match]:
        """The skills that a run followed before it stopped, by name, each with its current signals for the task."""
        before = {match.skill.name: match for match in _before(session, run, self.skills.library.snapshot().get)}
        task = next((event.task for event in session.of_run(run) if isinstance(event, Began)), "") if before else ""
        weighed = self.skills.match(MatchTask(task)).matches if task else ()
        signals = {match.skill.name: match.signals for match in weighed}
        return {name: replace(match, signals=signals.get(name, ())) for name, match in before.items()}

    def refreshed(self, event: IterationStarted) -> tuple[Injection, ...]:
        """The skills, at the start of a step, that fit the tools used so far and that the model does not have yet."""
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
            return tuple(
                Injection(shown(each), NAME, _PRIORITY, (_receipt(each),), InjectionType.SKILL_ACTIVATION)
                for each in added
            )

    def pieces(self, task: str, room: int, context: RunContext, before: Sequence[str] = ()) -> Sequence[Piece]:
        """The texts of the skills that fit a task, then the catalogue of the others. Texts in `before`, which the model
        still has from an earlier task of the session, are not repeated."""
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
        """True if the skills of a run, and those of the runs it works for, allow it a tool."""
        with self._lock:
            for run in _line(context.run):
                found = self._runs.get(run)
                allowed = allowance(each.skill for each in found.active.values()) if found is not None else None
                if allowed is not None and not allowed.keeps(tool.name, tool.groups):
                    return False
        return True

    def names_tool(self, tool: str, context: RunContext) -> bool:
        """True if a skill that the run follows names this tool."""
        with self._lock:
            found = self._runs.get(context.run)
            skills = [each.skill for each in found.active.values()] if found is not None else []
        return any(tool in (skill.allowed_tools or ()) or re.search(rf"\b{tool}\b", skill.body) for skill in skills)

    def opened(self, name: str, context: RunContext) -> None:
        """Record that the model of a run opened a skill itself; from now on it can rate the skill."""
        with self._lock:
            run = self._runs.get(context.run)
            if run is None or name in run.active or name in run.read:
                return
            run.read.add(name)
        self.tell(SkillOpened(context.run, context.session, name))

    def say(self, name: str, opinion: Opinion, context: RunContext) -> Use:
        """Record a model's opinion of a skill in its run; raises `UserError` if the run did not have the skill."""
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
        """The feedback form for the end of a run's note; empty if the run followed no skill."""
        with self._lock:
            found = self._runs.get(run)
            names = [] if found is None else [*found.active]
        return self.skills.boxes(names)

    def additions(self, event: TaskCompleted) -> Sequence[Addition]:
        """The uses of skills in a finished run and its sub-runs, as additions to the skills' histories."""
        with self._lock:
            found = {use.name: use for run in self._of(event.run) for use in self._uses(run, event)}
        return [Addition(*row) for row in history_rows(tuple(found.values()), self._language)]

    def over(self, event: TaskCompleted) -> None:
        """Put failing skills aside and drop a finished run; call it once the run's additions are written."""
        with self._lock:
            runs = [self._runs.pop(run) for run in self._of(event.run)]
        skills = {name: each.skill for run in runs for name, each in run.active.items()}
        for name, skill in skills.items():
            if skill.chain:
                self.tell(ChainCompleted(event.run, event.session, name, event.outcome))
        self.skills.put_aside(skills.values())

    def drop(self, run: str) -> None:
        """Drop the skills of a run."""
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
    """The source of skills for the tasks of one run."""

    following: ActiveSkills
    context: RunContext
    before: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return NAME

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """The texts of the skills that fit, best first, then the others in one line each."""
        return self.following.pieces(task, room, self.context, self.before)


def shown(found: Match, before: Sequence[str] = ()) -> str:
    """An active skill as text for the model; without the skill's own text if the model still has it in `before`."""
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
    """The skills that are not active, one line each, in about `room` tokens; unreviewed skills are left out.

    Those that are near the task come first and are marked.
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
    """The texts of the messages that came from skills."""
    return (each.text for each in messages if isinstance(each, Context) and each.source == NAME)


def _before(session: Session, run: str, find: Callable[[str], Skill | None]) -> Iterator[Match]:
    """The skills that were given to the model in a run, from the session's note."""
    said = [event.message for event in session.of_run(run) if isinstance(event, Spoken)]
    for name, score in (found for text in _texts(said) for found in _HEADING.findall(text)):
        skill = find(name)
        if skill is not None:
            yield Match(skill, (), int(score) / 100, 1.0, int(score) / 100, 0.0, MatchStatus.PRESENT)


def _receipt(found: Match) -> Receipt:
    skill = found.skill
    why = ", ".join(f"{signal.type} {_shortened(signal.detail, _PATTERN)}" for signal in found.signals)
    return Receipt(skill.path, (skill.body_line, skill.body_line + skill.body.count("\n")), None, found.score, why)
