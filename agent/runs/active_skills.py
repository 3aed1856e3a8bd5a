"""The skills that each run follows: given to its model where its person or job names them, opened by the model where
one that is offered fits, recorded at the end.

Matching skills to a task is left to `agent.skills`. A run that resumes in another process follows the skills in its
session's note, so that a crash does not give back the tools that a skill took away.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace

from agent.context.source import Piece
from agent.dataclass import dataclass
from agent.errors import AgentError, UserError
from agent.events.bus import Injection, InjectionType
from agent.events.runs import (
    ChainCompleted,
    ChainStarted,
    IterationStarted,
    SkillActivated,
    SkillOpened,
    SkillRated,
    TaskCompleted,
)
from agent.llm.messages import Context, Message, ToolResult
from agent.loop.outcome import RunOutcome
from agent.loop.records import Began, Spoken
from agent.loop.session import Session
from agent.memory.capture.writer import Addition
from agent.runs.skill_set import SkillSet
from agent.runs.skill_trials import SkillTexts, SkillTrials, receipt_of
from agent.skills.history.feedback import record_opinion
from agent.skills.history.usage import Activated, Opinion, Use, history_rows, reasons, record_uses
from agent.skills.matching.matcher import Matched, MatchTask
from agent.skills.matching.skill_text import HEADING, Match, MatchStatus, SkillIndex, has_text, reminder, skill_index
from agent.skills.matching.tool_allowlist import allowance, has_left_trace
from agent.skills.reading.skill import Skill, flat_steps, parts_of
from agent.texts import Language
from agent.tools.tool import RunContext, Taint, Tool
from agent.tools.tool_names import names_of
from agent.vault.change import Stamp

NAME, INDEX = "skills", "skill_index"
_MAY_FIT = "May fit this task; open with skills (show) what does: {names}"
_PRIORITY = 60
_KEPT = 500
"""Runs whose skills are kept in memory."""
_HEADING = re.compile(rf"^{HEADING}([\w-]+)$", re.MULTILINE)
_TOOL = "skills"
"""The tool with which a model opens a skill."""
_PRECEDENCE: tuple[Activated, ...] = ("auto", "manual", "chain")
"""The ways to use a skill; of several in one run, the first one is recorded."""


@dataclass(slots=True)
class _InRun:
    """The skills of the run `name`: `active` were given to its model or opened by it (those are also `opened`), `steps`
    are those in their chains, by the name of the chain, `offered` were named to it.

    `known` are the values known when the run began, `slots` those with what its skills say about the task. A run
    `is_of_job` rates none. `taint` is the run's own; `before` are the texts of skills that its model had when it began.
    """

    session: str
    name: str
    known: Mapping[str, str] = field(default_factory=dict)
    is_of_job: bool = False
    taint: Taint = field(default_factory=Taint)
    before: tuple[str, ...] = ()
    slots: dict[str, str] = field(default_factory=dict)
    active: dict[str, Match] = field(default_factory=dict)
    steps: dict[str, str] = field(default_factory=dict)
    offered: dict[str, Match] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    tools: frozenset[str] = frozenset()

    @property
    def followed(self) -> tuple[str, ...]:
        """The names of the active skills, and of those in their chains."""
        return tuple(dict.fromkeys([*self.active, *self.steps]))


@dataclass(slots=True)
class ActiveSkills:
    """The skills of the runs of one vault. May be used by several threads."""

    skills: SkillSet
    tell: Callable[[object], object]
    trials: SkillTrials = field(init=False)
    _runs: OrderedDict[str, _InRun] = field(default_factory=OrderedDict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.trials = SkillTrials(self.skills)

    def source(self, context: RunContext, session: Session) -> "SkillTexts":
        """The source of skills for the tasks of a run; a resumed run keeps the skills that it followed before.

        An empty run id is a preview: it shows the skills that a run would follow, until `drop`, and publishes nothing.
        """
        with self._lock:
            if context.role == "owner" and context.run not in self._runs:
                self.skills.library.refresh()
                if context.run:
                    with suppress(AgentError):  # the trust is saved even if the note cannot be written
                        self.skills.ticked()
                found = self._runs[context.run] = _InRun(
                    session.path,
                    context.run,
                    known_slots(context),
                    bool(context.job),
                    context.taint,
                    tuple(_texts(session.history)),
                )
                for match in self._again(session, context.run, found.known):
                    self.trials.take_again(context.run, match.skill.name, found.before)
                    self._follow(found, match)
                while len(self._runs) > _KEPT:
                    self._runs.popitem(last=False)
        before = tuple(_texts(session.history))
        return SkillTexts(NAME, lambda task, room: self.pieces(task, room, context, before))

    def index(self, task: str, room: int) -> str:
        """The index of the skills with which a conversation begins, in at most `room` tokens: those near its first task
        come first. Empty if it is switched off."""
        with self._lock:
            self.skills.library.refresh()
            return index_of(self.skills.match(MatchTask(task)), room, self.skills).text

    def slots(self, run: str) -> Mapping[str, str]:
        """The facts about a run's task, by name: its channel and sender, and what its skills say, such as the
        `task_type`. Empty after `over`."""
        with self._lock:
            found = self._runs.get(run)
            return {**found.known, **found.slots} if found is not None else {}

    def _again(self, session: Session, run: str, known: Mapping[str, str]) -> Iterator[Match]:
        """The skills that a run followed before it stopped, each with its current signals for the task."""
        before = list(_before(session, run, self.skills.library.snapshot().get))
        task = next((event.task for event in session.of_run(run) if isinstance(event, Began)), "") if before else ""
        weighed = self.skills.match(MatchTask(task, slots=known)).matches if task else ()
        now = {match.skill.name: match for match in weighed}
        for match in before:
            found = now.get(match.skill.name, match)
            yield replace(match, signals=found.signals, slots=found.slots, score=found.score)

    def refreshed(self, event: IterationStarted) -> tuple[Injection, ...]:
        """The names of skills, at the start of a step, that fit the tools used so far and were not offered yet."""
        with self._lock:
            run, tools = self._runs.get(event.run), frozenset(event.tools)
            if run is None or not self.skills.settings.auto or tools <= run.tools or run.is_of_job:
                return ()
            run.tools = tools
            task = MatchTask(event.task, tuple(name for tool in event.tools for name in names_of(tool)), run.known)
            present = {*run.active, *run.offered}
            matched = self.skills.match(task, event.session, present)
            taken = {each.skill.exclusive_group for each in run.active.values()} - {""}
            fresh = [each for each in matched.offered if each.skill.exclusive_group not in taken]
            self._offer(run, fresh)
        return (Injection(_offer(fresh), NAME, _PRIORITY, (), InjectionType.SKILL_ACTIVATION),) if fresh else ()

    def pieces(self, task: str, room: int, context: RunContext, before: Sequence[str] = ()) -> Sequence[Piece]:
        """The texts of the skills that a task names or that are always wanted, and the names of those that may fit it.
        Texts in `before`, which the model still has from an earlier task of the session, are not repeated.

        A job says what is to be done, and nobody is there to notice a skill that does not fit: the model of its run is
        offered none by guess, and opens those that it wants, from the index.
        """
        if not self.skills.settings.auto:
            return ()
        with self._lock:
            wanted = MatchTask(task, slots=known_slots(context))
            versions = self.trials.versions(context.run, before)
            matched = self.skills.match(wanted, context.session, room=room, versions=versions)
            offered = () if context.job else matched.offered
            events = list[object]()
            if (run := self._runs.get(context.run)) is not None:
                events = self._activate(run, matched.active)
                self._offer(run, offered)
        self._tell_all(events)
        texts = [
            Piece(reminder(each.skill) if has_text(each.skill, before) else each.text, NAME, 2.0, receipt_of(each))
            for each in matched.active
            if not (each.skill.is_always and has_text(each.skill, before))
        ]
        return [*texts, *([Piece(_offer(offered), NAME)] if offered else [])]

    def leaves(self, tool: Tool, context: RunContext) -> bool:
        """True if the skills of a run, and those of the runs it works for, allow it to call a tool."""
        with self._lock:
            for run in _line(context.run):
                found = self._runs.get(run)
                allowed = allowance(each.skill for each in found.active.values()) if found is not None else None
                if allowed is not None and not allowed.keeps(names_of(tool.name), tool.groups):
                    return False
        return True

    def opened(self, skill: Skill, context: RunContext) -> str:
        """The text of a skill for the model of a run that opens it: its variant, if one is on trial and this is its
        turn. From now on the run follows it, if its person has reviewed it."""
        with self._lock:
            run = self._runs.get(context.run)
            version = skill if run is None else self.trials.version(skill, context.run, run.before)
            text = self.skills.text(version)
            if run is None or not skill.reviewed or skill.name in run.active:
                return text
            run.opened.add(skill.name)
            self._follow(run, replace(run.offered.get(skill.name, _unweighed(version)), skill=version))
            events = [SkillOpened(context.run, context.session, skill.name), *_chain_begun(run, version)]
        self._tell_all(events)
        return text

    def say(self, name: str, opinion: Opinion, context: RunContext) -> Use:
        """Record a model's opinion of a skill in its run; raises `UserError` if the run did not have the skill, or
        belongs to a job."""
        if context.job:
            raise UserError("the run of a job rates no skill", hint="whoever asks for something may rate what helped")
        with self._lock:
            run, vault, now = (
                self._runs.get(context.run),
                self.skills.workspace.vault,
                self.skills.workspace.clock.now(),
            )
            root = context.run.partition(".")[0]
            if run is None or name not in run.followed:
                return record_opinion(vault, name, opinion, now, root, root, self._language)
            found = Use(name, now, root, context.session, activated="feedback", feedback=opinion)
            record_uses(vault, [found], Stamp(context.actor, run=context.run, tool="skill_feedback"), self._language)
        self.tell(SkillRated(name, root, opinion))
        return found

    def endnote(self, run: str) -> str:
        """The feedback form for the end of a run's note; empty if the run followed no skill."""
        with self._lock:
            found = self._runs.get(run)
            names = () if found is None else found.followed
        return self.skills.boxes(names)

    def additions(self, event: TaskCompleted) -> Sequence[Addition]:
        """The uses of skills in a finished run and its sub-runs, as additions to the skills' histories."""
        with self._lock:
            uses = [use for run in self._of(event.run) for use in self._uses(run, event)]
        found: dict[str, Use] = {}
        for use in sorted(uses, key=lambda use: _PRECEDENCE.index(use.activated)):
            found.setdefault(use.name, use)
        return [
            Addition(self.skills.library.home.at(path), head, rows)
            for path, head, rows in history_rows(tuple(found.values()), self._language)
        ]

    def over(self, event: TaskCompleted) -> None:
        """Put failing skills aside and drop a finished run; call it once the run's additions are written."""
        with self._lock:
            runs = [self._runs.pop(run) for run in self._of(event.run)]
        chains = {name: each.skill for run in runs for name, each in run.active.items() if each.skill.chain}
        for name in sorted(chains):
            if event.outcome == RunOutcome.FINISHED and not self._untraced(chains[name], event.tools):
                self.tell(ChainCompleted(event.run, event.session, name, event.outcome))
        self.trials.over(event.run)
        self.skills.put_aside(self._skills(dict.fromkeys(name for run in runs for name in run.followed)))

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
            why, trial = reasons(each.signals, self._language), self._trial(run, name)
            how: Activated = "manual" if name in found.opened else "auto"
            yield Use(name, now, event.run, event.session, how, each.score, why, event.outcome, calls, "", trial)
        for name, chained in found.steps.items():
            score, why = found.active[chained].score, f"step of {chained}"
            is_unproved = name in self._untraced(found.active[chained].skill, event.tools)
            outcome = "" if is_unproved and event.outcome == RunOutcome.FINISHED else event.outcome
            yield Use(name, now, event.run, event.session, "chain", score, why, outcome, calls)

    def _untraced(self, chain: Skill, tools: Sequence[str]) -> frozenset[str]:
        """The steps of a chain of which a run with these tools shows nothing: that it has ended proves none."""
        steps = flat_steps(chain, self.skills.library.snapshot().get)
        return frozenset(
            skill.name for step, skill in steps if step.on_failure != "skip" and not has_left_trace(skill, tools)
        )

    def _trial(self, run: str, name: str) -> str:
        """The trial that the row of a use names: nothing in the run of a job, or one that read text by others."""
        found = self._runs[run]
        return "" if found.taint or found.is_of_job else self.trials.label(run, name)

    def _activate(self, run: _InRun, matches: Iterable[Match]) -> list[object]:
        """Add skills to a run; returns the events to publish once the lock is free, since the bus may be waiting for
        it on behalf of another run."""
        events = list[object]()
        for each in matches:
            self._follow(run, each)
            if run.name:
                events.append(SkillActivated(run.name, run.session, each.skill.name, each.score))
                events += _chain_begun(run, each.skill)
        return events

    def _offer(self, run: _InRun, matches: Iterable[Match]) -> None:
        for each in matches:
            run.offered[each.skill.name] = each
            run.slots = dict(each.slots) | run.slots

    def _tell_all(self, events: Iterable[object]) -> None:
        for event in events:
            self.tell(event)

    def _follow(self, run: _InRun, found: Match) -> None:
        run.active[found.skill.name] = found
        self.trials.take(run.name, found.skill)
        run.slots = dict(found.slots) | run.slots
        for step in parts_of(found.skill, self.skills.library.snapshot().get):
            run.steps.setdefault(step.name, found.skill.name)
        if run.name:
            self.skills.used(run.session, found.skill.name)

    def _skills(self, names: Iterable[str]) -> list[Skill]:
        found = self.skills.library.snapshot()
        return [skill for name in names if (skill := found.get(name)) is not None]


def index_of(matched: Matched, room: int, skills: SkillSet) -> SkillIndex:
    """The index of all skills in at most `room` tokens, or of those that match a task; empty if it is switched off."""
    if not skills.settings.index:
        return SkillIndex()
    near = [each.skill.key for each in matched.matches]
    return skill_index(skills.library.snapshot().candidates, near, room, skills.count)


def known_slots(context: RunContext) -> Mapping[str, str]:
    """The values that are known of a task before any skill is asked. `channel` is the name of the channel alone, also
    in a group; `sender_id` is a guest's name, else the owner's account there."""
    origin = context.origin
    found = {
        "channel": context.channel.partition(":")[0],
        "chat_id": origin.chat,
        "sender_id": context.sender or origin.account,
        "thread_id": origin.thread,
    }
    return {name: value for name, value in found.items() if value}


def _line(run: str) -> list[str]:
    """A run, and the runs that it works for: `a`, `a.b`, `a.b.c`."""
    parts = run.split(".")
    return [".".join(parts[:number]) for number in range(1, len(parts) + 1)]


def _texts(messages: Iterable[Message]) -> Iterator[str]:
    """The texts of skills among the messages: given, or opened."""
    for each in messages:
        if (isinstance(each, Context) and each.source == NAME) or (isinstance(each, ToolResult) and each.name == _TOOL):
            yield each.text


def _before(session: Session, run: str, find: Callable[[str], Skill | None]) -> Iterator[Match]:
    """The skills that the model was given or has opened in a run, from the session's note."""
    messages = [event.message for event in session.of_run(run) if isinstance(event, Spoken)]
    for name in dict.fromkeys(name for text in _texts(messages) for name in _HEADING.findall(text)):
        skill = find(name)
        if skill is not None and skill.reviewed:
            yield _unweighed(skill)


def _chain_begun(run: _InRun, skill: Skill) -> Sequence[object]:
    return [ChainStarted(run.name, run.session, skill.name)] if skill.chain else []


def _unweighed(skill: Skill) -> Match:
    """A skill that was opened, whatever speaks for it."""
    return Match(skill, (), 0.0, 1.0, 0.0, 0.0, MatchStatus.PRESENT)


def _offer(matches: Iterable[Match]) -> str:
    return _MAY_FIT.format(names=", ".join(f"`{each.skill.name}`" for each in matches))
