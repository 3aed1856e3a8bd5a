"""Wrappers that take a tool and return one that checks arguments, repeats nothing, gives up in time, cuts and masks.

The yes of a person is left to `approvals` and `taint`, the order of the wrappers to `registry`.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue

from agent.config.masking import HIDDEN_IN_NOTES
from agent.errors import Interrupted, ToolFailed, ToolRetry
from agent.llm.messages import JsonObject
from agent.tools.arguments import canonical
from agent.tools.schema import problems
from agent.tools.tool import RunContext, Tool, ToolOutput

HANGING = 3
"""Calls of one tool that may hang, left behind; from then on it is not called any more."""
_LOOK = 0.1
logger = logging.getLogger(__name__)


def checked(tool: Tool) -> Tool:
    """Return the tool with the arguments of each call checked against its schema first."""

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        found = problems(arguments, tool.parameters)
        if found:
            raise ToolRetry("\n".join((f"{tool.name} was not called:", *found)))
        return tool.perform(arguments, context)

    return replace(tool, perform=perform)


def once(tool: Tool) -> Tool:
    """Return the tool with a call that was carried out before its run stopped answered from history, not repeated."""

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        done = tool.effect.done(context) if tool.effect and context.resumed else None
        return done if done is not None else tool.perform(arguments, context)

    return replace(tool, perform=perform)


def whole(tool: Tool) -> Tool:
    """Return the tool with a call refused that would write `[secret]` into a note, where the arguments or the text
    shown to the model had a key: the note would lose the key, or say something that was not asked for."""

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
    """Return the tool with its result cut to its limit, at the end of a line where there is one."""
    return _reworded(tool, lambda text: cut(text, tool.result_limit))


def masked(tool: Tool, mask: Callable[[str], str]) -> Tool:
    """Return the tool with secrets masked in its result, while they are whole: half a key is not recognised."""
    return _reworded(tool, mask)


def _reworded(tool: Tool, change: Callable[[str], str]) -> Tool:
    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        output = tool.perform(arguments, context)
        return replace(output, text=change(output.text))

    return replace(tool, perform=perform)


def cut(text: str, limit: int) -> str:
    """Return the text, or its first `limit` characters with a line that says how much is missing."""
    if len(text) <= limit:
        return text
    end = text.rfind("\n", limit // 2, limit)
    kept = text[: end if end > 0 else limit]
    return f"{kept}\n[{len(text) - len(kept):,} of {len(text):,} characters left out: ask for a smaller part]"


def timed(tool: Tool) -> Tool:
    """Return the tool with its time limit, each call in a thread of its own; one that hangs is left behind, and logged.

    A tool without a limit runs in the caller's thread to its end: what it writes is never reported as failed while it
    still happens.
    """
    if tool.timeout <= 0:
        return tool
    hanging: list[ThreadedCall] = []

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
                raise Interrupted(f"{tool.name} was cancelled")
        hanging.append(call)
        logger.warning("%s took longer than %g s and is left behind", tool.name, tool.timeout)
        raise ToolFailed(f"{tool.name} took longer than {tool.timeout:g} s and was given up")

    return replace(tool, perform=perform)


@dataclass(slots=True)
class ThreadedCall:
    """A call of a function in a thread of its own, which does not keep the program from ending."""

    function: Callable[[], ToolOutput]
    name: str
    answer: SimpleQueue[ToolOutput | BaseException] = field(default_factory=SimpleQueue)
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run, name=f"vault-agent-{self.name}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.answer.put(self.function())
        except BaseException as error:  # noqa: BLE001 - handed to the caller, who sorts it
            self.answer.put(error)

    def result(self, seconds: float) -> ToolOutput:
        """Return what the function returned; raises what it raised, or `Empty` when it takes longer than `seconds`."""
        found = self.answer.get(timeout=seconds)
        if isinstance(found, BaseException):
            raise found
        return found
