"""Messages to and from a model, as values; each wire turns them into its own JSON and back.

Raw JSON becomes these once, at the wire. Nothing here knows of tools' code, prices or notes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Json: TypeAlias = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
JsonObject: TypeAlias = Mapping[str, Json]
"""A JSON object: a tool's arguments, or the schema of them."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants to be used; `id` is unique within a run.

    `problem` says why the arguments could not be read (they are empty then): the model is told, nothing is run.
    """

    id: str
    name: str
    arguments: JsonObject = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True)
class System:
    """Who the agent is and what holds in every step; always the first message."""

    text: str


@dataclass(frozen=True, slots=True)
class User:
    """What a person said; `sender` names them where several people speak."""

    text: str
    sender: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What we put before the model beside what people said: memories, a skill, a summary. `source` says which.

    On the wire it is a user's message inside a tag with the source's name.
    """

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Assistant:
    """What the model said, and the tools that it wants used.

    `kept` is what the provider wants back word for word with these calls (its signed thinking). It means nothing to
    anyone else, and may be lost.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    kept: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave for the call of this id; `failed`: the text says what went wrong."""

    call: str
    name: str
    text: str
    failed: bool = False


Message: TypeAlias = System | User | Context | Assistant | ToolResult


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call, or of several added up. `cached` is the part of `input` that a provider's cache served,
    `written` the part that it stored there, which costs a quarter more than plain input."""

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
"""Why a model stopped: it was done, it wants tools, it ran out of room, it or its provider refused."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model. The first `stable` messages will stand unchanged in the next one: worth caching.

    `max_output` is in tokens.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output: int = 4096
    stable: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer, whole, with what it cost; `model` is the name that the provider gave."""

    message: Assistant
    usage: Usage
    stop: StopReason
    model: str
