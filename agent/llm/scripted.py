"""A model that answers from a script, for tests and for trying things out without a provider.

The position in the script is computed from the request's messages and not
stored, so that a killed run can resume. Without a script it repeats the person's last message.

A script is a YAML or JSON file:

    model: {name: demo, window: 128000, max_output: 4096}     # all optional
    replies:
      - text: I will look for it.                             # in order, one reply per call
        calls: [{tool: search_vault, arguments: {query: tea}}]
      - text: Found it.
        usage: {input: 900, output: 12, cached: 800}          # default: estimated from the characters
        chunks: ["Found ", "it."]                             # the pieces; default: about a word each
        seconds: 0.5                                          # the duration of the reply
      - {error: retryable, message: too busy, times: 2}       # raised twice here (0: always), then the next
      - {when: Summarise, text: A summary.}                   # at any time: if the last message contains this
      - {task: look up, text: In the sub-run.}                # a separate order, after a request with this
    after: That is all.                                       # after the last reply; `error` raises instead

A file may also be only the list of replies, and a reply only its text.
"""

import json
import re
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from agent.clock import Clock, SystemClock
from agent.dataclass import dataclass
from agent.errors import AgentError, ConfigError, Interrupted, MissingKey, Permanent, Retryable, os_reason
from agent.llm.messages import (
    Assistant,
    Cancelled,
    Json,
    JsonObject,
    Message,
    Model,
    OnText,
    Reply,
    Request,
    StopReason,
    System,
    ToolCall,
    Usage,
    User,
    ignore,
    never,
)
from agent.texts import Sentence, joined

Error: TypeAlias = Literal["retryable", "permanent", "key", "interrupted"]
AFTER = "The script has no more to say."
MODEL = Model("scripted", 128_000, 4_096)
_MAX_BYTES = 1 << 20
_ERROR_NAMES: tuple[Error, ...] = ("retryable", "permanent", "key", "interrupted")
_STOPS: tuple[StopReason, ...] = ("end", "tools", "length", "refused")
_USAGE = ("input", "output", "cached", "written")
_LINE = frozenset(["text", "calls", "when", "task", "usage", "chunks", "seconds", "error", "message", "times", "stop"])

T = TypeVar("T", bound=str)


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A tool call in a scripted reply; `problem` as in `ToolCall`."""

    tool: str
    arguments: JsonObject = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One reply, or an error to raise first (`times`; 0: always). The module's docstring explains the fields."""

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    when: str = ""
    task: str = ""
    usage: Usage | None = None
    chunks: tuple[str, ...] = ()
    seconds: float = 0.0
    error: Error | None = None
    message: str = ""
    times: int = 1
    stop: StopReason | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A whole script. With `after` None, a request after the last reply is an error."""

    lines: tuple[ScriptedReply, ...]
    after: str | None = AFTER
    model: Model = MODEL


def load_script(path: Path) -> Script:
    """The script in a file of at most 1 MB; raises `ConfigError` that names the reply and the error in it."""
    raw = _load(path)
    whole = _Fields(
        str(path), raw if isinstance(raw, Mapping) else {"replies": raw}, frozenset({"model", "replies", "after"})
    )
    model = _Fields(f"{path}, model", whole.mapping("model"), frozenset({"name", "window", "max_output"}))
    after = whole.text("after", AFTER)
    return Script(
        tuple(_line(f"{path}, reply {number}", item) for number, item in enumerate(whole.items("replies"), 1)),
        None if after == "error" else after,
        Model(
            model.text("name", MODEL.name),
            model.whole("window", MODEL.window),
            model.whole("max_output", MODEL.max_output),
        ),
    )


def _load(path: Path) -> Json:
    import yaml

    try:
        data = path.expanduser().read_bytes()
        if len(data) > _MAX_BYTES:
            raise ConfigError("{path} is larger than 1 MB", hint="shorten the script", path=path)
        # Through JSON, so that a date or a number as a key becomes text, as in a model's call.
        raw: Json = json.loads(json.dumps(yaml.load(data, Loader=yaml.CSafeLoader), default=str))
    except OSError as error:
        reason = os_reason(error)
        raise ConfigError(
            "the script {path} cannot be read: {reason}", hint="llm.script names it", path=path, reason=reason
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(
            "{path} is not YAML: {problem}",
            hint="mend the script",
            path=path,
            problem=" ".join(str(error).split())[:200],
        ) from error
    return raw


def _line(where: str, item: Json) -> ScriptedReply:
    if isinstance(item, str):
        return ScriptedReply(item)
    if not isinstance(item, Mapping):
        raise ConfigError("{where}: neither a text nor a mapping", hint="text: what the model says", where=where)
    fields = _Fields(where, item, _LINE)
    usage = _Fields(f"{where}, usage", fields.mapping("usage"), frozenset(_USAGE))
    return ScriptedReply(
        text=fields.text("text"),
        calls=tuple(_call(f"{where}, call {n}", call) for n, call in enumerate(fields.items("calls"), 1)),
        when=fields.text("when"),
        task=fields.text("task"),
        usage=Usage(*(usage.whole(name) for name in _USAGE)) if usage.raw else None,
        chunks=tuple(str(chunk) for chunk in fields.items("chunks")),
        seconds=fields.number("seconds"),
        error=fields.choice("error", _ERROR_NAMES),
        message=fields.text("message"),
        times=fields.whole("times", 1),
        stop=fields.choice("stop", _STOPS),
    )


def _call(where: str, item: Json) -> ScriptedCall:
    if not isinstance(item, Mapping):
        raise ConfigError("{where}: not a mapping", hint=Sentence("{tool: NAME, arguments: {…}}"), where=where)
    fields = _Fields(where, item, frozenset({"tool", "arguments", "problem"}))
    return ScriptedCall(fields.text("tool"), fields.mapping("arguments"), fields.text("problem"))


@dataclass(frozen=True, slots=True)
class _Fields:
    """A mapping of the file and its position in it; each method returns one typed field or raises `ConfigError`."""

    where: str
    raw: JsonObject
    known: frozenset[str]

    def __post_init__(self) -> None:
        strange = [str(key) for key in self.raw if key not in self.known]
        if strange:
            raise ConfigError(
                "{where}: unknown {strange}",
                hint="known: {known}",
                where=self.where,
                strange=joined(strange, ", "),
                known=joined(sorted(self.known), ", "),
            )

    def text(self, name: str, default: str = "") -> str:
        value = self.raw.get(name)
        return default if value is None else str(value)

    def number(self, name: str, default: float = 0.0) -> float:
        value = self.raw.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise ConfigError(
                "{where}: {name} is not a number from 0 up", hint="{name}: 1", where=self.where, name=name
            )
        return value

    def whole(self, name: str, default: int = 0) -> int:
        return int(self.number(name, default))

    def mapping(self, name: str) -> JsonObject:
        value = self.raw.get(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise ConfigError(
                "{where}: {name} is not a mapping", hint="{name}: {{key: value}}", where=self.where, name=name
            )
        return value

    def items(self, name: str) -> Sequence[Json]:
        value = self.raw.get(name)
        if value is None:
            return ()
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise ConfigError(
                "{where}: {name} is not a list", hint="begin each of its lines with `-`", where=self.where, name=name
            )
        return value

    def choice(self, name: str, words: tuple[T, ...]) -> T | None:
        value = self.text(name)
        found = next((word for word in words if word == value), None)
        if value and found is None:
            raise ConfigError(
                "{where}: {name} is {said}",
                hint="{name} is one of {words}",
                where=self.where,
                name=name,
                said=value,
                words=joined(words, ", "),
            )
        return found


_KEPT = 1_000
_SLICE = 0.1
_PIECES = re.compile(r"\S{1,12}\s*|\s+")
_OURS = re.compile(r"([a-z][0-9]*)-([0-9]{1,6})-[0-9]{1,4}")
_ERRORS: dict[str, type[AgentError]] = {
    "retryable": Retryable,
    "permanent": Permanent,
    "key": MissingKey,
    "interrupted": Interrupted,
}


class Scripted:
    """A `Provider` that answers from a script. Keeps the last 1,000 requests in `requests`; waits use `clock`."""

    def __init__(
        self,
        lines: Sequence[ScriptedReply] = (),
        *,
        after: str | None = AFTER,
        model: Model = MODEL,
        clock: Clock | None = None,
    ) -> None:
        self._lines = tuple(lines)
        self._tasks = sorted({line.task for line in lines if line.task and not line.when})
        self._standing = frozenset(line.text for line in lines if line.when)
        self._after = after
        self._model = model
        self._clock = clock or SystemClock()
        self._mutex = threading.Lock()
        self._raised: dict[tuple[int, int], int] = {}
        self.requests: deque[Request] = deque(maxlen=_KEPT)

    @property
    def model(self) -> Model:
        return self._model

    @classmethod
    def load(cls, path: Path | str, *, clock: Clock | None = None) -> "Scripted":
        """The script in a file, an empty script for an empty path; raises `ConfigError` that names the error in it."""
        if not str(path):
            return cls(clock=clock)
        script = load_script(Path(path))
        return cls(script.lines, after=script.after, model=script.model, clock=clock)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The reply for this position in the conversation; raises the script's errors."""
        self.requests.append(request)
        if cancelled():
            raise Interrupted("the call was cancelled")
        line, mark = self._next(request)
        self._wait(line.seconds, cancelled)
        _stream(line, on_text, cancelled)
        calls = tuple(
            ToolCall(f"{mark}-{number}", call.tool, call.arguments, call.problem)
            for number, call in enumerate(line.calls, 1)
        )
        answer = "".join(line.chunks) or line.text
        usage = line.usage or Usage(_characters(request) // 4 + 1, len(answer) // 4 + 8 * len(calls) + 1)
        return Reply(Assistant(answer, calls), usage, line.stop or ("tools" if calls else "end"), self._model.name)

    def _next(self, request: Request) -> tuple[ScriptedReply, str]:
        """The next reply, and the prefix for the ids of its calls."""
        messages = request.messages
        replies = sum(isinstance(message, Assistant) for message in messages)
        last = next((m.text for m in reversed(messages) if not isinstance(m, System)), "")
        for number, line in enumerate(self._lines):
            if line.when and line.when in last and not self._raises(line, (number, replies)):
                return line, f"w-{replies}"
        if not self._lines:
            return ScriptedReply(_request(messages)), f"s-{replies}"
        task, since = self._task(messages)
        mark = f"t{self._tasks.index(task)}" if task else "s"
        order = [line for line in self._lines if not line.when and line.task == task]
        place = self._place(since, mark)
        for number, line in _errors_at(order, place):
            self._raises(line, (number, place))
        due = [line for line in order if line.error is None]
        if place < len(due):
            return due[place], f"{mark}-{place}"
        if self._after is None:
            raise Permanent("the script has no more replies", hint="add replies to it, or set `after`")
        return ScriptedReply(self._after), f"{mark}-{place}"

    def _task(self, messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
        """The name of the current order of replies, and the messages since it began."""
        for index in range(len(messages) - 1, -1, -1):
            message = messages[index]
            if isinstance(message, User):
                for task in self._tasks:
                    if task in message.text:
                        return task, messages[index:]
        return "", messages

    def _place(self, messages: Sequence[Message], mark: str) -> int:
        """The number of replies of the order that were given, counted from the ids of calls: they work even after a
        summary has replaced the earlier messages."""
        place = 0
        for message in messages:
            if not isinstance(message, Assistant):
                continue
            found = _OURS.fullmatch(message.calls[0].id) if message.calls else None
            if found is None:
                place += message.text not in self._standing
            elif found[1] == mark:
                place = int(found[2]) + 1
        return place

    def _raises(self, line: ScriptedReply, key: tuple[int, int]) -> bool:
        """Raise the reply's error unless it was raised often enough; True if it was, False for a reply without an
        error."""
        if line.error is None:
            return False
        with self._mutex:
            so_far = self._raised.get(key, 0)
            self._raised[key] = so_far + 1
        if line.times == 0 or so_far < line.times:
            raise _ERRORS[line.error](line.message or f"the script says: {line.error}")
        return True

    def _wait(self, seconds: float, cancelled: Cancelled) -> None:
        while seconds > 0:
            self._clock.sleep(min(seconds, _SLICE))
            seconds -= _SLICE
            if cancelled():
                raise Interrupted("the call was cancelled")


def _stream(line: ScriptedReply, on_text: OnText, cancelled: Cancelled) -> None:
    for piece in line.chunks or _PIECES.findall(line.text):
        if cancelled():
            raise Interrupted("the call was cancelled")
        on_text(piece)


def _errors_at(order: Sequence[ScriptedReply], place: int) -> list[tuple[int, ScriptedReply]]:
    """The errors just before the reply at this position, each with its index in the order."""
    found: list[tuple[int, ScriptedReply]] = []
    replies = 0
    for number, line in enumerate(order):
        if line.error is not None and replies == place:
            found.append((number, line))
        replies += line.error is None
    return found


def _request(messages: Sequence[Message]) -> str:
    """A person's last message."""
    return next((m.text for m in reversed(messages) if isinstance(m, User)), "")


def _characters(request: Request) -> int:
    return sum(len(message.text) for message in request.messages)
