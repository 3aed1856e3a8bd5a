"""The answer of a model that is asked outside of a run: parsed, and asked for once more where something is wrong."""

from collections.abc import Callable
from typing import Generic, TypeVar

from agent.context.prompt import VaultReader, fill
from agent.dataclass import dataclass
from agent.errors import AgentError, LimitReached
from agent.llm.messages import Assistant, Cancelled, Message, Provider, Request, User, ignore, never

_NAMED = 5
"""The most problems that are named to the model."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[T]):
    """The value in a reply (None: it cannot be used), the problems in sentences for the model, and the reply's text."""

    value: T | None
    problems: tuple[str, ...] = ()
    text: str = ""


def ask_model(
    model: Provider,
    prompt: str,
    parse: Callable[[str], ParsedReply[T]],
    most: int,
    read: VaultReader,
    cancelled: Cancelled = never,
) -> ParsedReply[T]:
    """The parsed reply to a prompt, of at most `most` tokens; the second one if the first has problems, unless only the
    first can be used. `read` reads the vault's own prompts.

    Raises what the model raises when it is asked first, and then, unless the first reply can be used or nothing is left
    to spend.
    """

    def asked(*messages: Message) -> ParsedReply[T]:
        reply = model.chat(Request(messages, max_output=most), ignore, cancelled).message.text
        found = parse(reply)
        return ParsedReply(found.value, found.problems, reply.strip())

    first = asked(User(prompt))
    if first.value is not None and not first.problems:
        return first
    again = fill("reflect_again", read, problems="\n".join(f"- {each}" for each in first.problems[:_NAMED]))
    try:
        second = asked(User(prompt), Assistant(first.text), User(again))
    except (AgentError, OSError) as error:
        if first.value is None and not isinstance(error, LimitReached):
            raise
        return first
    return second if second.value is not None else first
