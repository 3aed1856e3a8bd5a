"""The skills that each run follows: given to its model at the start, added as it uses tools, recorded at the end.

Matching skills to a task is left to `agent.skills`. A run that resumes in another process follows the skills in its
session's note, so that a crash does not give back the tools that a skill took away.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace

from agent.context.assemble import REFRESH
from agent.context.source import Piece
from agent.context.tokens import MESSAGE
from agent.dataclass import dataclass
from agent.errors import AgentError, UserError
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
from agent.runs.skill_pieces import SkillTexts, receipt_of, why_left_out
from agent.runs.skill_set import SkillSet
from agent.runs.skill_trials import SkillTrials
from agent.skills.history.feedback import record_opinion
from agent.skills.history.usage import Activated, Opinion, Use, history_rows, reasons, record_uses
from agent.skills.matching.matcher import Matched, MatchTask
from agent.skills.matching.selection import Match, MatchStatus
from agent.skills.matching.skill_text import SkillIndex, has_text, reminder, skill_index
from agent.skills.matching.tool_allowlist import allowance
from agent.skills.reading import chain
from agent.skills.reading.skill import Skill
from agent.texts import Language
from agent.tools.tool import RunContext, Taint, Tool
from agent.vault.change import Stamp

NAME, INDEX = "skills", "skill_index"
_PRIORITY = 60
_KEPT = 500
"""Runs whose skills are kept in memory."""
_HEADING = re.compile(r"^## Skill: ([\w-]+) \(confidence (\d{1,3})%\)$", re.MULTILINE)
_PRECEDENCE: tuple[Activated, ...] = ("auto", "chain", "manual")
"""The ways to use a skill; of several in one run, the first one is recorded."""


@dataclass(slots=True)
class _InRun:
    """The skills of the run `name`: `active` were given to its model, `steps` are those in their chains, by the name of
    the chain, `summarised` were only named to the model, `read` were opened by it.

    `known` are the values known when the run began, `slots` those with what its skills say about the task. A run
    `is_of_job` is given no skill by guess. `taint` is the run's own; `before` are the texts of skills that its model
    had when it began.
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
    summarised: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    tools: frozenset[str] = frozenset()
    matched: Matched | None = None

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

    def index(self, context: RunContext, session: Session) -> "SkillTexts":
        """The source of the index of the other skills, to be asked after that of `source`."""
        before = tuple(_texts(session.history))
        return SkillTexts(INDEX, lambda task, room: self.index_pieces(room, context, before))

    def slots(self, run: str) -> Mapping[str, str]:
        """What is known of a run's task, by name: its channel and sender, and what its skills say, such as the
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
            yield replace(match, signals=found.signals, slots=found.slots)

    def refreshed(self, event: IterationStarted) -> tuple[Injection, ...]:
        """The skills, at the start of a step, that fit the tools used so far and that the model does not have yet."""
        with self._lock:
            run, tools = self._runs.get(event.run), frozenset(event.tools)
            if run is None or not self.skills.settings.auto or tools <= run.tools or run.is_of_job:
                return ()
            run.tools = tools
            task = MatchTask(event.task, tuple(event.tools), run.known)
            present = {*run.active, *run.summarised, *run.read}
            versions = self.trials.versions(event.run, run.before)
            matched = self.skills.match(task, event.session, present, REFRESH, versions)
            added = added_in_run(matched, run.active.values(), self.skills.settings.most)
            events = self._activate(event.run, added)
        self._tell_all(events)
        return tuple(
            Injection(each.text, NAME, _PRIORITY, (receipt_of(each),), InjectionType.SKILL_ACTIVATION) for each in added
        )

    def pieces(self, task: str, room: int, context: RunContext, before: Sequence[str] = ()) -> Sequence[Piece]:
        """The texts of the skills that fit a task. Texts in `before`, which the model still has from an earlier task of
        the session, are not repeated.

        A job says what is to be done, and nobody is there to notice a skill that does not fit: the model of its run is
        given none by guess, and reads those that it wants, from the index.
        """
        if not self.skills.settings.auto or context.role != "owner":
            return ()
        if context.job:
            with self._lock:
                if context.run in self._runs:
                    self._runs[context.run].matched = Matched((), tuple(self.skills.library.snapshot().candidates))
            return ()
        with self._lock:
            wanted = MatchTask(task, slots=known_slots(context))
            versions = self.trials.versions(context.run, before)
            matched = self.skills.match(wanted, context.session, room=room, versions=versions)
            events = self._activate(context.run, matched.given)
            if context.run in self._runs:
                self._runs[context.run].matched = matched
            given = [
                Piece(reminder(each) if has_text(each, before) else each.text, NAME, 1.0 + each.score, receipt_of(each))
                for each in matched.given
            ]
            left_out = matched.of(MatchStatus.NO_ROOM)
        self._tell_all(events)
        return [*given, *(Piece("", NAME, absent=why_left_out(each)) for each in left_out)]

    def index_pieces(self, room: int, context: RunContext, before: Sequence[str]) -> Sequence[Piece]:
        """The index of the skills of which the model of a run is given nothing else; not repeated if it is in
        `before`."""
        with self._lock:
            run = self._runs.get(context.run)
            if run is None or run.matched is None:
                return ()
            text = index_of(run.matched, room, self.skills).text
            return [Piece(text, INDEX)] if text and not any(text in each for each in before) else ()

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
            skills = self._skills(found.followed) if found is not None else []
        return any(tool in (skill.allowed_tools or ()) or re.search(rf"\b{tool}\b", skill.body) for skill in skills)

    def version(self, skill: Skill, context: RunContext) -> Skill:
        """The skill as a run is shown it: its variant, if one is on trial and this is its turn."""
        with self._lock:
            run = self._runs.get(context.run)
            return skill if run is None else self.trials.version(skill, context.run, run.before)

    def opened(self, name: str, context: RunContext) -> None:
        """Record that the model of a run opened a skill itself; from now on it can rate the skill."""
        with self._lock:
            run = self._runs.get(context.run)
            if run is None or name in run.active or name in run.read:
                return
            run.read.add(name)
            self.trials.take_again(context.run, name, run.before)
        self.tell(SkillOpened(context.run, context.session, name))

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
            if run is None or name not in {*run.followed, *run.read}:
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
        chains = {name for run in runs for name, each in run.active.items() if each.skill.chain}
        for name in sorted(chains):
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
            yield Use(name, now, event.run, event.session, "auto", each.score, why, event.outcome, calls, "", trial)
        for name, chained in found.steps.items():
            score, why = found.active[chained].score, f"step of {chained}"
            yield Use(name, now, event.run, event.session, "chain", score, why, event.outcome, calls)
        for name in sorted(found.read):
            trial = self._trial(run, name)
            yield Use(name, now, event.run, event.session, "manual", outcome=event.outcome, tools=calls, trial=trial)

    def _trial(self, run: str, name: str) -> str:
        """What the row of a use says of its trial: nothing in the run of a job, or one that read text by others."""
        found = self._runs[run]
        return "" if found.taint or found.is_of_job else self.trials.label(run, name)

    def _activate(self, run: str, matches: Iterable[Match]) -> list[object]:
        """Add skills to a run; returns the events to publish once the lock is free, since the bus may be waiting for
        it on behalf of another run."""
        found, events = self._runs.get(run), list[object]()
        if found is None:
            return events
        for each in matches:
            if each.status is MatchStatus.SUMMARY:
                found.summarised.add(each.skill.name)
                found.slots = dict(each.slots) | found.slots
                continue
            self._follow(found, each)
            if not run:
                continue
            self.skills.used(found.session, each.skill.name)
            events.append(SkillActivated(run, found.session, each.skill.name, each.score))
            if each.skill.chain:
                events.append(ChainStarted(run, found.session, each.skill.name))
        return events

    def _tell_all(self, events: Iterable[object]) -> None:
        for event in events:
            self.tell(event)

    def _follow(self, run: _InRun, found: Match) -> None:
        run.active[found.skill.name] = found
        self.trials.take(run.name, found.skill)
        run.slots = dict(found.slots) | run.slots
        for step in chain.parts(found.skill, self.skills.library.snapshot().get):
            run.steps.setdefault(step.name, found.skill.name)

    def _skills(self, names: Iterable[str]) -> list[Skill]:
        found = self.skills.library.snapshot()
        return [skill for name in names if (skill := found.get(name)) is not None]


def added_in_run(matched: Matched, active: Collection[Match], most: int) -> Sequence[Match]:
    """The matches that are added to a run whose model has the `active` ones: none of their exclusive groups, and at
    most `most` together."""
    taken = {each.skill.exclusive_group for each in active} - {""}
    fresh = [each for each in matched.given if each.skill.exclusive_group not in taken]
    return fresh[: max(most - len(active), 0)]


def index_of(matched: Matched, room: int, skills: SkillSet) -> SkillIndex:
    """The index of the skills of which the model is given nothing else, as a message of at most `room` tokens; empty if
    it is switched off."""
    if not skills.settings.index:
        return SkillIndex()
    near = {each.skill.key for each in matched.reference}
    return skill_index(matched.listed, near, room - MESSAGE, skills.count)


def known_slots(context: RunContext) -> Mapping[str, str]:
    """The values that are known of a task before any skill is asked."""
    return {name: value for name, value in (("channel", context.channel), ("sender_id", context.sender)) if value}


def _line(run: str) -> list[str]:
    """A run, and the runs that it works for: `a`, `a.b`, `a.b.c`."""
    parts = run.split(".")
    return [".".join(parts[:number]) for number in range(1, len(parts) + 1)]


def _texts(messages: Iterable[Message]) -> Iterator[str]:
    """The texts of the messages that came from skills."""
    return (each.text for each in messages if isinstance(each, Context) and each.source in {NAME, INDEX})


def _before(session: Session, run: str, find: Callable[[str], Skill | None]) -> Iterator[Match]:
    """The skills that were given to the model in a run, from the session's note."""
    said = [event.message for event in session.of_run(run) if isinstance(event, Spoken)]
    for name, score in (found for text in _texts(said) for found in _HEADING.findall(text)):
        skill = find(name)
        if skill is not None:
            yield Match(skill, (), int(score) / 100, 1.0, int(score) / 100, 0.0, MatchStatus.PRESENT)
