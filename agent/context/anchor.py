"""The task anchor: a reminder of the task at the end of a request, once there is something to be reminded of.

It holds the task, the progress, the warnings and the failures. Failures stay visible on purpose: a model that sees that
something failed does not try it a second time. What was sent stays as it was: an anchor is a message of the history,
and a later one is added behind it.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from agent.context.budget import Count, Window, shorten
from agent.dataclass import dataclass
from agent.llm.messages import Context
from agent.markdown.title import clipped
from agent.texts import Language, text

ANCHOR = "anchor"
"""The source of its message."""
_REASON = 240
"""Characters quoted of a failure; the tool's result has all of them."""
_NAMED = 12
"""The latest steps that are named; earlier ones are only counted."""
_STEP = 60
"""The most characters of the step of a plan in one line."""
_TASK = 0.6
"""The largest part of the anchor's room for a long task."""
_SMALLEST = 160
"""Tokens for the anchor and for the errors in windows that are too small for their shares."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed tool call, and its error."""

    tool: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps that are done, the one that is worked on, and those that remain after it, in their order."""

    done: tuple[str, ...]
    now: str
    left: tuple[str, ...]

    def in_one_line(self, language: Language) -> str:
        """The step that is worked on, such as "plan, 2 of 5: …"."""
        number = len(self.done) + 1
        return text("live.plan", language, number=number, all=number + len(self.left), step=clipped(self.now, _STEP))


@dataclass(frozen=True, slots=True)
class Anchor:
    """A task and its progress; `done` and `errors` are ordered oldest first, `left` says what is left of the limits.

    `answers` are what the person has answered in this run, and stand right behind it. `closing` comes last: what the
    model is to do now, if not the next step. `plan` is what it has written down of its steps; with `wants_plan` it is
    told to.
    """

    task: str
    done: tuple[str, ...] = ()
    current: str = ""
    left: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    errors: tuple[Failure, ...] = ()
    language: Language = "en"
    closing: str = ""
    answers: tuple[str, ...] = ()
    plan: Plan | None = None
    wants_plan: bool = False

    def message(self, window: Window, count: Count) -> Context:
        """The reminder as a message, in its shares of the window."""
        reminder = self.reminder(max(window.allowed("anchor"), _SMALLEST), count)
        trail = self.trail(max(window.allowed("errors"), _SMALLEST), count)
        return Context("\n\n".join(filter(None, (reminder, self.answered(), trail, self.closing))), ANCHOR)

    def answered(self) -> str:
        """The person's answers, the newest last; empty without one."""
        if not self.answers:
            return ""
        return "\n".join([text("anchor.answered", self.language), *(f"- {_one_line(each)}" for each in self.answers)])

    def reminder(self, room: int, count: Count) -> str:
        """The task, the progress and the warnings, in about `room` tokens: a long task is shortened."""
        task = shorten(self.task.strip(), max(int(room * _TASK), 24), count)
        if task != self.task.strip():
            task = f"{task}\n{text('anchor.shortened', self.language)}"
        lines = [text("anchor.task", self.language), task, "", text("anchor.progress", self.language)]
        lines += self._progress(room - count(task), count) + self._plan()
        if self.warnings:
            lines += ["", text("anchor.warnings", self.language), *(f"- {_one_line(each)}" for each in self.warnings)]
        return "\n".join(lines)

    def trail(self, room: int, count: Count) -> str:
        """The distinct failures, the newest last; the oldest are left out beyond `room` tokens."""
        head = text("anchor.failures", self.language)
        lines: list[str] = []
        for failure, times in Counter(reversed(self.errors)).items():
            reason = _one_line(failure.reason)
            line = "- " + text("anchor.failure", self.language, tool=failure.tool, reason=reason)
            line += text("anchor.times", self.language, number=times) if times > 1 else ""
            if lines and count("\n".join([head, line, *lines])) > room:
                break
            lines.insert(0, line)
        return "\n".join([head, *lines]) if lines else ""

    def _progress(self, room: int, count: Count) -> list[str]:
        colon, comma = text("anchor.colon", self.language), text("anchor.comma", self.language)
        lines = []
        if self.done:
            lines.append(text("anchor.done", self.language) + colon + self._listed(self.done, comma, room, count))
        if self.current:
            lines.append(text("anchor.current", self.language) + colon + _one_line(self.current))
        if self.left:
            lines.append(text("anchor.left", self.language) + colon + comma.join(map(_one_line, self.left)))
        return lines

    def _plan(self) -> list[str]:
        """The steps of the plan that remain, the present one first; without a plan, that there should be one."""
        if self.plan is None:
            return ["", text("anchor.no_plan", self.language)] if self.wants_plan else []
        steps = [_one_line(each) for each in (self.plan.now, *self.plan.left)]
        head = text("anchor.plan", self.language, done=len(self.plan.done))
        return ["", head, *(f"{number}. {step}" for number, step in enumerate(steps, start=len(self.plan.done) + 1))]

    def _listed(self, steps: Sequence[str], comma: str, room: int, count: Count) -> str:
        runs = [(_one_line(step), len(list(same))) for step, same in groupby(steps)]
        named = [step + (text("anchor.times", self.language, number=n) if n > 1 else "") for step, n in runs][-_NAMED:]
        while len(named) > 1 and count(comma.join(named)) > room:
            named.pop(0)
        before = sum(n for _, n in runs[: len(runs) - len(named)])
        counted = [text("anchor.before", self.language, number=before)] if before else []
        return comma.join([*counted, *named])


def _one_line(long: str) -> str:
    return clipped(" ".join(long.split()), _REASON)
