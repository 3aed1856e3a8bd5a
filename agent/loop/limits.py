"""The limits of a run: how far it has come, what repeats itself, when its model is reminded, and why it stops."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from hashlib import sha256

from agent.config.run_settings import RunSettings as Limits
from agent.context.anchor import ANCHOR, Anchor
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted, LimitReached, Stopping
from agent.events.notices import NoticeRaised
from agent.llm.messages import Assistant, Context, JsonObject, Message, ToolCall, ToolResult
from agent.llm.spend import OF_ONE_JOB
from agent.loop.record_format import call_line
from agent.loop.records import RecordedEvent, RunRequest, Spoken
from agent.texts import Language, Sentence, text, translated
from agent.vault.change import CLIENT


@dataclass(slots=True)
class Progress:
    """The steps, tool calls and time that a run has used. `since` is the monotonic time of its begin or resumption."""

    since: float
    steps: int = 0
    tool_calls: int = 0

    @classmethod
    def of(cls, events: Iterable[RecordedEvent], now: float) -> "Progress":
        """The progress of a run that is resumed, counted from the events in its note."""
        messages = [event.message for event in events if isinstance(event, Spoken)]
        steps = sum(isinstance(message, Assistant) for message in messages)
        return cls(now, steps, sum(isinstance(message, ToolResult) for message in messages))

    def check_step(self, limits: Limits, now: float) -> None:
        """Raise `LimitReached` when the next step would pass a limit."""
        if self.steps >= limits.steps:
            raise _reached(Sentence("{count} steps", count=limits.steps), "run.steps")
        self.check_call(limits, now)

    def check_call(self, limits: Limits, now: float) -> None:
        """Raise `LimitReached` when the next tool call would pass a limit."""
        if self.tool_calls >= limits.tool_calls:
            raise _reached(Sentence("{count} uses of tools", count=limits.tool_calls), "run.tool_calls")
        if self.is_late(limits, now):
            raise out_of_time(limits)

    def is_late(self, limits: Limits, now: float) -> bool:
        """True if the run has used up its time."""
        return now - self.since >= limits.seconds


def out_of_time(limits: Limits) -> LimitReached:
    """The error that ends a run after its time is used up."""
    return _reached(Sentence("{count:g} seconds", count=limits.seconds), "run.seconds")


def _reached(what: Sentence, key: str) -> LimitReached:
    return LimitReached(
        "the run has used its {what}",
        limit=key,
        hint="say 'go on' in the same session, or raise it: vault-agent config set {key} …",
        concludes=True,
        what=what,
        key=key,
    )


WARNED, MOST = 3, 8
"""The number of equal results of one call after which the model is warned, and after which the call is refused: a model
that ignores six warnings will ignore the seventh. No setting: while a run waits for something, the result changes."""
_DIGITS = re.compile(r"\d+")


class Repeated(LimitReached):
    """A run makes the same call again and again: `times` times, each with the same failure (`failed`) or result."""

    def __init__(self, tool: str, arguments: JsonObject, times: int, *, failed: bool) -> None:
        self.call, self.times, self.failed = call_line(ToolCall("", tool, arguments)), times, failed
        what = "failed {} times in the same way" if failed else "gave the same result {} times"
        super().__init__(
            f"{self.call} {what.format(times)} and was asked for again",
            limit="spend.same_failure" if failed else "",
            hint="look at the errors in the session's note, then ask again in other words"
            if failed
            else "what it found is in the session's note; ask again in other words, or choose another llm.model",
            concludes=True,
        )


@dataclass(slots=True)
class Breaker:
    """The repetitions of one run, without sub-runs. `limit` is the most equal failures of the same call.

    Failures are equal if the tool, its arguments and the error are; numbers in the error do not count. Results are
    equal if every character is; a different result restarts the count.
    """

    limit: int
    failures: dict[str, dict[str, int]] = field(default_factory=dict)
    """By call (its tool and a short hash), then by error (a short hash)."""
    repeats: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By call: its last result (a short hash), and how many times in a row it gave this one."""

    def check(self, tool: str, arguments: JsonObject) -> None:
        """Raise `Repeated` if the call has failed in the same way, or given the same result, too often."""
        call = _call(tool, arguments)
        worst = max(self.failures.get(call, {}).values(), default=0)
        if worst >= self.limit:
            raise Repeated(tool, arguments, worst, failed=True)
        _, same = self.repeats.get(call, ("", 0))
        if same >= MOST:
            raise Repeated(tool, arguments, same, failed=False)

    def failed(self, tool: str, arguments: JsonObject, error: str) -> str:
        """Count a failed call; returns a warning for the model, empty while the call may be repeated."""
        call = _call(tool, arguments)
        self.repeats.pop(call, None)
        if self._count(call, error) < self.limit:
            return ""
        return (
            f"This call has now failed {self.limit} times in the same way. It will not be tried again: "
            "change the arguments, use another tool, or say what is missing. The same call once more ends the run."
        )

    def succeeded(self, tool: str, arguments: JsonObject, result: str) -> None:
        """Count a successful call, and reset its failures."""
        call, new = _call(tool, arguments), _short(result)
        self.failures.pop(call, None)
        last, times = self.repeats.get(call, ("", 0))
        self.repeats[call] = new, times + 1 if new == last else 1

    @property
    def repeated(self) -> tuple[tuple[str, int], ...]:
        """The tools of which a call has given the same result too often to be of use, each with the number."""
        counts = ((call.partition(" ")[0], times) for call, (_, times) in self.repeats.items())
        return tuple((tool, times) for tool, times in counts if times >= WARNED)

    def replay(self, results: Iterable[tuple[ToolCall, ToolResult]]) -> None:
        """Count the results in the note of a resumed run. The failures of a call start at zero: a person may have
        removed their cause."""
        for call, result in results:
            if result.failed:
                self.repeats.pop(_call(call.name, call.arguments), None)
            else:
                self.succeeded(call.name, call.arguments, result.text)

    def _count(self, call: str, error: str) -> int:
        errors = self.failures.setdefault(call, {})
        key = _short(" ".join(_DIGITS.sub("#", error).split()))
        errors[key] = errors.get(key, 0) + 1
        return errors[key]


def _call(tool: str, arguments: JsonObject) -> str:
    return f"{tool} {_short(json.dumps(arguments, sort_keys=True, ensure_ascii=True, default=_as_dict))}"


def _as_dict(value: object) -> object:
    """The value with mappings as `dict` and sequences as `list`."""
    return dict(value) if isinstance(value, Mapping) else repr(value)


def _short(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


EVERY = 8
"""The steps after which the model is reminded again."""
_SCARCE = 0.2
"""The part of a limit below which the model is told what is left."""
_FULL = (0.9, 0.8)
"""The parts of the window's budget from which the model is told so."""


def is_due(anchor: Anchor, of_run: Iterable[RecordedEvent], in_sight: Iterable[Message]) -> bool:
    """True if the model is to be reminded now. `of_run` are the events of the run, `in_sight` the messages that the
    model sees; it is told of its last step whatever it was told before."""
    before, steps = _reminded([event.message for event in of_run if isinstance(event, Spoken)])
    is_new = any(each not in before for each in (*anchor.warnings, *anchor.answers))
    is_scarce = bool(anchor.left) and text("anchor.left", anchor.language) not in before
    is_last = text("anchor.last_step", anchor.language) in anchor.left
    return is_last or is_new or is_scarce or steps >= EVERY or not _knows_task(anchor.task, in_sight)


def _reminded(messages: Sequence[Message]) -> tuple[str, int]:
    """The text of the reminders so far, and the steps of the model since the last one."""
    anchors = [at for at, message in enumerate(messages) if _is_anchor(message)]
    steps = sum(isinstance(message, Assistant) for message in messages[anchors[-1] if anchors else 0 :])
    return "\n".join(messages[at].text for at in anchors), steps


def _knows_task(task: str, in_sight: Iterable[Message]) -> bool:
    others = (message for message in in_sight if not isinstance(message, Assistant))
    return any(task in each.text or _is_anchor(each) for each in others)


def _is_anchor(message: Message) -> bool:
    return isinstance(message, Context) and message.source == ANCHOR


def whats_left(
    progress: Progress, limits: Limits, now: float, spending: Callable[[], float], language: Language
) -> tuple[str, ...]:
    """The limits of which little is left, each in a few words; `spending` returns the part left of money and tokens."""
    return tuple(_left(progress, limits, now, spending, language))


def _left(
    progress: Progress, limits: Limits, now: float, spending: Callable[[], float], language: Language
) -> Iterator[str]:
    steps, calls = limits.steps - progress.steps, limits.tool_calls - progress.tool_calls
    seconds = max(limits.seconds - (now - progress.since), 0.0)
    if steps <= 0:
        yield text("anchor.last_step", language)
    elif steps < limits.steps * _SCARCE:
        yield text("anchor.steps", language, number=steps)
    if calls < limits.tool_calls * _SCARCE:
        yield text("anchor.calls", language, number=calls)
    if seconds < limits.seconds * _SCARCE:
        yield text("anchor.seconds", language, number=int(seconds))
    try:
        money = spending()
    except AgentError:
        return  # the next call of the model raises it
    if money < _SCARCE:
        yield text("anchor.spending", language, part=f"{money:.0%}")


def what_to_mind(breaker: Breaker, full: float, tainted: bool, language: Language) -> tuple[str, ...]:
    """The warnings: calls that bring nothing new, a nearly full window (`full` from 0 to 1), untrusted text."""
    found = [
        text("anchor.repeated_last" if times >= MOST else "anchor.repeated", language, tool=tool, times=times)
        for tool, times in breaker.repeated
    ]
    reached = next((each for each in _FULL if full >= each), None)
    found += [text("anchor.full", language, part=f"{reached:.0%}")] if reached is not None else []
    return (*found, *([text("anchor.tainted", language)] if tainted else []))


def stop_reason(stop: Exception, language: Language, channel: str = "") -> str:
    """The reason in one line, which may quote arguments. A run that was asked for through the `channel` of a program is
    stopped by that program, else by the person."""
    match stop:
        case Repeated(call=call, times=times) if language != "en":
            key = "stopped.same_failure" if stop.failed else "stopped.same_result"
            return text(key, language, call=call, times=times)
        case LimitReached(limit=limit):
            return _limit_sentence(limit, language) or translated(stop.message, language)
        case Interrupted():  # raised wherever the run was at that moment
            return text("stopped.by_program" if channel.startswith(CLIENT) else "stopped.by_person", language)
        case Stopping() if language != "en":
            return text("stopped.by_person", language)
        case AgentError():
            return stop.message
    return f"{type(stop).__name__}: {stop}"


def stop_hint(stop: Exception, language: Language) -> str:
    """The action that solves the problem; empty for none."""
    if isinstance(stop, Repeated) and language != "en":
        return text("stopped.ask_otherwise", language)
    if isinstance(stop, LimitReached) and _limit_sentence(stop.limit, language):
        key = "stopped.raise_in_job" if stop.limit == OF_ONE_JOB else "stopped.raise"
        return text(key, language, key=stop.limit)
    if isinstance(stop, LimitReached):
        return translated(stop.hint, language)
    return stop.hint if isinstance(stop, AgentError) else ""


def _limit_sentence(limit: str, language: Language) -> str:
    """The sentence for a limit; empty in English, and for a limit without one."""
    try:
        return text(f"stopped.{limit}", language) if language != "en" else ""
    except KeyError:
        return ""


_OF_A_DAY = frozenset({"spend.daily", "spend.daily_tokens", "spend.jobs", "spend.jobs_tokens"})
_PRIORITY = 0.8
"""Until the next day nothing more is done without the person."""
_WATCHED = frozenset({"cli", "acp"})
"""The channels of runs whose person sees their end."""


def spend_notice(stop: Exception, request: RunRequest, language: Language) -> NoticeRaised | None:
    """The notice about a run that was stopped; None if there is nothing that its person has to hear of."""
    if not isinstance(stop, LimitReached) or stop.limit not in _OF_A_DAY or request.speaker.channel in _WATCHED:
        return None
    lines = tuple(filter(None, (stop_reason(stop, language), stop_hint(stop, language))))
    return NoticeRaised("spend", _PRIORITY, text("notices.spend", language), lines, subject=stop.limit)
