"""The script of a scripted model, as values and as a YAML or JSON file:

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

A file may also be only the list of replies, and a reply only its text. Playing a script is left to `scripted`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from agent.dataclass import dataclass
from agent.errors import ConfigError, os_reason
from agent.llm.messages import Json, JsonObject, Model, StopReason, Usage
from agent.texts import Sentence, joined

Error: TypeAlias = Literal["retryable", "permanent", "key", "interrupted"]
AFTER = "The script has no more to say."
MODEL = Model("scripted", 128_000, 4_096)
_MAX_BYTES = 1 << 20
_ERRORS: tuple[Error, ...] = ("retryable", "permanent", "key", "interrupted")
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
    said = _Fields(where, item, _LINE)
    usage = _Fields(f"{where}, usage", said.mapping("usage"), frozenset(_USAGE))
    return ScriptedReply(
        text=said.text("text"),
        calls=tuple(_call(f"{where}, call {n}", call) for n, call in enumerate(said.items("calls"), 1)),
        when=said.text("when"),
        task=said.text("task"),
        usage=Usage(*(usage.whole(name) for name in _USAGE)) if usage.raw else None,
        chunks=tuple(str(chunk) for chunk in said.items("chunks")),
        seconds=said.number("seconds"),
        error=said.choice("error", _ERRORS),
        message=said.text("message"),
        times=said.whole("times", 1),
        stop=said.choice("stop", _STOPS),
    )


def _call(where: str, item: Json) -> ScriptedCall:
    if not isinstance(item, Mapping):
        raise ConfigError("{where}: not a mapping", hint=Sentence("{tool: NAME, arguments: {…}}"), where=where)
    said = _Fields(where, item, frozenset({"tool", "arguments", "problem"}))
    return ScriptedCall(said.text("tool"), said.mapping("arguments"), said.text("problem"))


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
        said = self.text(name)
        found = next((word for word in words if word == said), None)
        if said and found is None:
            raise ConfigError(
                "{where}: {name} is {said}",
                hint="{name} is one of {words}",
                where=self.where,
                name=name,
                said=said,
                words=joined(words, ", "),
            )
        return found
