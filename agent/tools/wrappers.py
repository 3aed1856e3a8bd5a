"""Wrappers that take a tool and return one that checks arguments, repeats no call, has a time limit, cuts and masks.

Approvals are left to `approvals` and `taint`, the order of the wrappers to `registry`.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from agent.config.masking import HIDDEN_IN_NOTES
from agent.dataclass import dataclass
from agent.errors import Interrupted, ToolFailed, ToolRetry
from agent.llm.messages import JsonObject
from agent.tools.arguments import canonical, problems, with_types
from agent.tools.tool import RunContext, Tool, ToolOutput

HANGING = 3
"""The most abandoned calls of one tool that still hang; at this number it is not called any more."""
ROWS = 14_000
"""The characters for the rows of a list: below the limit of a result, so that the tool says which are missing."""
_LOOK = 0.1
T = TypeVar("T")
logger = logging.getLogger(__name__)


def checked(tool: Tool) -> Tool:
    """The tool, with the arguments of each call first checked against its schema; values that only miss their type are
    taken."""

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        arguments = with_types(arguments, tool.parameters)
        found = problems(arguments, tool.parameters)
        if found:
            raise ToolRetry("\n".join((f"{tool.name} was not called:", *found)))
        return tool.perform(arguments, context)

    return replace(tool, perform=perform)


def once(tool: Tool) -> Tool:
    """The tool, with a call performed before its run stopped answered from the history and not repeated."""

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        done = tool.effect.done(context) if tool.effect and context.resumed else None
        return done if done is not None else tool.perform(arguments, context)

    return replace(tool, perform=perform)


def whole(tool: Tool) -> Tool:
    """The tool, refusing a call that would write `[secret]` into a note, in place of a key in the arguments or in text
    shown to the model: the note would lose the key, or get text that was not requested."""

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        if tool.effect and HIDDEN_IN_NOTES in canonical(arguments):
            drafts = tool.effect.plan(arguments, context)
            if any(_marks(draft.after) > _marks(draft.before) or HIDDEN_IN_NOTES in draft.path for draft in drafts):
                raise ToolFailed(f"{tool.name} was not called: {HIDDEN_IN_NOTES} stands for a key; leave the key out")
        return tool.perform(arguments, context)

    return replace(tool, perform=perform)


def _marks(data: bytes | None) -> int:
    return (data or b"").count(HIDDEN_IN_NOTES.encode())


def capped(tool: Tool) -> Tool:
    """The tool, with its result cut to its limit, at the end of a line if there is one."""
    return _reworded(tool, lambda text: cut(text, tool.result_limit))


def masked(tool: Tool, mask: Callable[[str], str]) -> Tool:
    """The tool, with secrets masked in its result before it is cut: half a key is not recognised."""
    return _reworded(tool, mask)


def _reworded(tool: Tool, change: Callable[[str], str]) -> Tool:
    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        output = tool.perform(arguments, context)
        return replace(output, text=change(output.text))

    return replace(tool, perform=perform)


def cut(text: str, limit: int) -> str:
    """The text, or its first `limit` characters with a line that states how much is missing."""
    if len(text) <= limit:
        return text
    end = text.rfind("\n", limit // 2, limit)
    beginning = text[: end if end > 0 else limit]
    return f"{beginning}\n[{len(text) - len(beginning):,} of {len(text):,} characters left out: ask for a smaller part]"


def rows_that_fit(rows: Sequence[str], room: int = ROWS) -> int:
    """The number of the first rows that have room together in so many characters, each with the line that ends it."""
    used = 0
    for number, row in enumerate(rows):
        used += len(row) + 2
        if used > room:
            return number
    return len(rows)


def timed(tool: Tool) -> Tool:
    """The tool with its time limit, each call in a separate thread; a call that hangs is abandoned and logged.

    A tool without a limit runs to its end in the caller's thread: a write is never reported as failed while it is still
    in progress.
    """
    if tool.timeout <= 0:
        return tool
    hanging: list[ThreadedCall[ToolOutput]] = []

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        hanging[:] = [call for call in hanging if call.thread.is_alive()]
        if len(hanging) >= HANGING:
            raise ToolFailed(f"{len(hanging)} earlier calls of {tool.name} are still hanging; do without it")
        call = ThreadedCall(lambda: tool.perform(arguments, context), tool.name)
        left = tool.timeout
        while left > 0:
            try:
                return call.result(min(_LOOK, left))
            except Empty:
                left -= _LOOK
            if context.cancelled():
                hanging.append(call)
                raise Interrupted("{name} was cancelled", name=tool.name)
        hanging.append(call)
        logger.warning("%s took longer than %g s and is left behind", tool.name, tool.timeout)
        raise ToolFailed(f"{tool.name} took longer than {tool.timeout:g} s and was given up")

    return replace(tool, perform=perform)


@dataclass(slots=True)
class ThreadedCall(Generic[T]):
    """A call of a function in a daemon thread, which does not keep the program from ending."""

    function: Callable[[], T]
    name: str
    answer: SimpleQueue[T | BaseException] = field(default_factory=SimpleQueue)
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run, name=f"vault-agent-{self.name}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.answer.put(self.function())
        except BaseException as error:  # noqa: BLE001 - passed to the caller, which sorts it
            self.answer.put(error)

    def result(self, seconds: float) -> T:
        """The function's result; raises what it raised, or `Empty` after `seconds`."""
        found = self.answer.get(timeout=seconds)
        if isinstance(found, BaseException):
            raise found
        return found
