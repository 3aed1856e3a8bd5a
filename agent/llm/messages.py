"""Messages to and from a model as values, the Protocol of a model, and typed values from untrusted JSON."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import Literal, Protocol, Self, TypeAlias

from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.texts import Sentence

Json: TypeAlias = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
JsonObject: TypeAlias = Mapping[str, Json]
"""A JSON object: a tool's arguments, or their schema."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that the model requests; `id` is unique within a run.

    `problem` says why the arguments could not be parsed (they are empty then): the model sees it and nothing runs.
    """

    id: str
    name: str
    arguments: JsonObject = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class System:
    """The role of the agent and the rules for every step; always the first message."""

    text: str


@dataclass(frozen=True, slots=True)
class User:
    """A person's message; `sender` is the person's name where several people write."""

    text: str
    sender: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """Text that we add beside people's messages: memories, a skill, a summary. `source` is its origin.

    On the wire it is a user message inside a tag with the source's name.
    """

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Assistant:
    """The model's answer and the tool calls that it requests.

    `thinking` is data that the model needs back unchanged with these calls (its thinking, signed or encrypted), and
    `thinking_by` the model and its server: no other can use it, and it may be lost.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    thinking: tuple[JsonObject, ...] = ()
    thinking_by: str = ""


IMAGE_TOKENS = 1_600
"""The tokens of a picture, about: providers make larger ones smaller first (Anthropic's manual)."""


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture beside the text of a message: the name of its file, its media type and its bytes. A session's note does
    not keep it: a run that goes on after a restart has the text alone."""

    name: str
    media_type: str
    data: bytes = field(repr=False)

    @property
    def base64(self) -> str:
        return b64encode(self.data).decode("ascii")

    @property
    def url(self) -> str:
        """The picture as a `data:` URL."""
        return f"data:{self.media_type};base64,{self.base64}"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of the tool call with this id; `failed`: the text is an error. `images` are for models that see."""

    call: str
    name: str
    text: str
    failed: bool = False
    images: tuple[ImagePart, ...] = ()


Message: TypeAlias = System | User | Context | Assistant | ToolResult


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool's description for the model; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one call, or a sum of several. `cached` is the part of `input` read from the provider's cache,
    `written` the part stored there, which costs a quarter more than plain input."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.written + other.written,
        )


StopReason: TypeAlias = Literal["end", "tools", "length", "refused"]
"""The reason for the end of an answer: complete, tool calls, length limit, refused by the model or its provider."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model. The first `stable` messages stay unchanged in the next request, so they can be cached.

    `max_output` is in tokens. Without `may_call` the model is to answer in words, though the tools are described.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output: int = 4096
    stable: int = 0
    may_call: bool = True


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's complete answer and its usage; `model` is the name that the provider returned, `remarks` what the
    person has to know of how it came about."""

    message: Assistant
    usage: Usage
    stop: StopReason
    model: str
    remarks: tuple[Sentence, ...] = ()


THINKING = 16_000
"""Tokens that thinking may take beside an answer, where the window is large."""

OnText: TypeAlias = Callable[[str], None]
"""Called with each piece of text as it arrives."""
Cancelled: TypeAlias = Callable[[], bool]
"""True if the caller no longer wants the answer; checked often during a wait."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model's name and its limits, in tokens: of an answer with its thinking `max_output`, of which `thinking` may be
    used up before the first word. `present` is false for the offline provider, which has no model. `sees`: it is given
    pictures."""

    name: str
    window: int
    max_output: int
    present: bool = True
    thinking: int = 0
    sees: bool = False

    def with_window(self, window: int) -> Self:
        """The model with this window, and with the parts of it that its answer and its thinking may take."""
        most = max(min(self.max_output, window // 2), 1)
        return replace(self, window=window, max_output=most, thinking=min(THINKING, window // 8))

    def room(self, words: int) -> int:
        """The tokens to ask for, so that `words` tokens are left for the answer itself."""
        return min(self.max_output, words + self.thinking)


def ignore(text: str) -> None:
    """Ignore the text, for callers who need the whole answer only."""


def never() -> bool:
    """Always False: for calls that cannot be cancelled."""
    return False


class Provider(Protocol):
    """A model behind a wire. Safe to call from several threads at once.

    `chat` blocks until the reply is complete and passes text to `on_text` as it arrives, never the same text twice:
    once some was passed on, a broken stream is not retried. Raises `Interrupted` within half a second after `cancelled`
    turns true, `Retryable` when the attempts are used up, `Permanent` for an error that a retry cannot solve (`TooLong`
    for a request that is longer than the window), `MissingKey`, and `LimitReached` from a meter.
    """

    @property
    def model(self) -> Model: ...

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply: ...


_END_OF_TIME = 253_402_000_000
"""The seconds from 1970 to the end of the year 9999, less than two days."""


def parsed(text: str | bytes) -> Json:
    """The value in `text`; raises `ValueError` for invalid JSON, also when it is nested too deeply."""
    try:
        value: Json = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def mapping(value: Json) -> JsonObject:
    """`value` if it is an object, else an empty object."""
    return value if isinstance(value, Mapping) else {}


def items(value: Json) -> Sequence[Json]:
    """`value` if it is a list, else an empty list."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def text(value: Json) -> str:
    """`value` if it is text, the joined texts of its parts if it is a list, else empty. Halves of characters, which
    JSON can hold and no file can, become question marks."""
    found = streamed_text(value)
    return found if found.isascii() else found.encode("utf-8", "replace").decode()


def streamed_text(value: Json) -> str:
    """The same for a piece of a text, whose last character may have its other half in the next piece."""
    if isinstance(value, str):
        return value
    return "".join(streamed_text(mapping(part).get("text")) for part in items(value))


def moment(seconds: int) -> datetime:
    """The time so many seconds after the beginning of 1970, which is the time for a number that is out of range."""
    return datetime.fromtimestamp(seconds if 0 < seconds < _END_OF_TIME else 0, UTC)


def number(value: Json) -> int:
    """`value` if it is a count, else 0."""
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e12 else 0


def reply_items(reply: str) -> Iterator[Mapping[str, str]]:
    """The objects of the JSON array in a reply, a list in them as lines; raises `ValueError` if there is none."""
    begin, end = reply.find("["), reply.rfind("]")
    if begin < 0 or end < begin:
        raise ValueError("no JSON array in the answer")
    for item in parse_json(reply[begin : end + 1]):
        if isinstance(item, dict):
            yield {str(key): _text(value) for key, value in item.items() if value is not None}


def _text(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)
