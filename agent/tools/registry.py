"""The tools by name, and the only place that performs a model's calls.

Around each tool, from the outside: policy, schema, once, whole, approval, frame, cut, mask, time limit. Every failure
becomes text for the model, and the run continues; only errors that end or pause a run on purpose are raised.
"""

import logging
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Protocol

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import AgentError, StopRun, ToolFailed, ToolRetry
from agent.llm.messages import ToolCall, ToolResult, ToolSpec
from agent.tools.policy import GROUPS, Permission, Policies
from agent.tools.schema import problems
from agent.tools.taint import framed
from agent.tools.tool import Draft, RunContext, Tool, ToolOutput
from agent.tools.wrappers import capped, checked, cut, masked, once, timed, whole

ERROR_CHARACTERS = 2000
"""The most characters of an error shown to the model."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
logger = logging.getLogger(__name__)


def is_tool_name(name: str) -> bool:
    """True for plain words with `_` between them."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Called:
    """The result of a call: the message for the model, the tool's output (None: it failed), the duration in seconds,
    and true for a tool that the policy denies."""

    result: ToolResult
    given: ToolOutput | None
    seconds: float
    denied: bool = False


MayUse = Callable[[Tool, RunContext], bool]
"""Function from (tool, run context) to True if the run may use the tool; only restricts the policy."""


def allow_all(tool: Tool, context: RunContext) -> bool:
    """True: for runs that are limited only by their policy."""
    return True


class ToolSource(Protocol):
    """Tools that come and go while runs live, such as those of another program."""

    def tools(self) -> Sequence[Tool]:
        """The tools that exist now; asked for before each step, so it must be quick. A tool that has not changed is
        the same object each time."""
        ...

    def absence(self) -> str:
        """Why there are fewer tools than before, for the model."""
        ...


class Registry:
    """All tools, wrapped: those that are there from the start, and those of `sources`, as of the last `update`.

    `guard` wraps a tool so that a call needs a person's approval if the policy or a taint requires it; a tool for which
    `leaves` is False is neither shown to the run nor called. `mask` removes secrets from results before they are cut.
    `about` makes the tools that need the registry itself. A tool of a source never takes the name of another one.

    Raises `ValueError` for two tools with one name, a name that is not plain words (`vault_read`: first the object,
    then the action), or an unknown group.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        policies: Policies,
        guard: Callable[[Tool, Policies], Tool],
        clock: Clock,
        leaves: MayUse = allow_all,
        mask: Callable[[str], str] = str,
        about: Callable[["Registry"], Iterable[Tool]] = lambda registry: (),
        sources: Sequence[ToolSource] = (),
    ) -> None:
        self._mask = mask
        self._policies = policies
        self._leaves = leaves
        self._clock = clock
        self._guard = guard
        self._sources = sources
        self._turn = threading.Lock()
        self._edition = 0
        self._tools: dict[str, Tool] = {}
        self._come: dict[str, tuple[Tool, ToolSource]] = {}
        self._gone: dict[str, ToolSource] = {}
        for tool in (*tools, *about(self)):
            if tool.name in self._tools or not is_tool_name(tool.name) or not tool.groups <= GROUPS:
                raise ValueError(f"the tool {tool.name} has a name that is taken or not plain, or an unknown group")
            self._tools[tool.name] = self._wrapped(tool)

    def _wrapped(self, tool: Tool) -> Tool:
        safe = self._guard(framed(capped(masked(timed(tool), self._mask))), self._policies)
        return checked(once(whole(safe)))

    def update(self) -> int:
        """Take in the tools that have come, and drop those that have gone; the result is a number that changes with
        them. Runs that live see the change at their next step."""
        with self._turn:
            for source in self._sources:
                self._take_in(source, {tool.name: tool for tool in source.tools()})
            return self._edition

    def _take_in(self, source: ToolSource, now: dict[str, Tool]) -> None:
        before = {name: tool for name, (tool, owner) in self._come.items() if owner is source}
        gone = [name for name, tool in before.items() if now.get(name) is not tool]
        new = [tool for name, tool in now.items() if before.get(name) is not tool]
        taken = self._tools.keys() - before.keys()
        new = [tool for tool in new if tool.name not in taken and tool.groups <= GROUPS and is_tool_name(tool.name)]
        if not gone and not new:
            return
        tools = {name: tool for name, tool in self._tools.items() if name not in gone}
        self._come = {name: come for name, come in self._come.items() if name not in gone}
        self._come |= {tool.name: (tool, source) for tool in new}
        self._gone = {**self._gone, **dict.fromkeys(gone, source)}
        self._tools = tools | {tool.name: self._wrapped(tool) for tool in new}  # other threads read the old one
        self._edition += 1

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tools, for any run."""
        return tuple(self._tools)

    def profile(self, context: RunContext) -> str:
        """The name of the profile of the policy that the run falls under."""
        return self._policies.choose(context).name

    def visible(self, context: RunContext) -> tuple[Tool, ...]:
        """The tools that the run may use."""
        return tuple(tool for tool in self._allowed(context) if self._leaves(tool, context))

    def permission(self, name: str, context: RunContext) -> Permission:
        """The permission of a run for the tool of this name; denied for one that does not exist."""
        tool = self._tools.get(name)
        return Permission.DENY if tool is None else self._policies.permission(tool, context)

    def specs(self, context: RunContext) -> tuple[ToolSpec, ...]:
        """The specifications of the tools that the run may use, for the model."""
        return tuple(tool.spec for tool in self.visible(context))

    def is_readonly(self, name: str) -> bool:
        """True if calls of the tool change nothing."""
        tool = self._tools.get(name)
        return tool is not None and tool.readonly

    def runs_with(self, name: str) -> str:
        """The kind of calls beside which a call of the tool may run: one kind for all tools that change nothing, the
        tool's own name for a parallel one, empty for one that runs alone."""
        tool = self._tools.get(name)
        if tool is None or not (tool.readonly or tool.parallel):
            return ""
        return "readonly" if tool.readonly else name

    def call(self, call: ToolCall, context: RunContext) -> Called:
        """Perform a call. Raises only `StopRun`; the result has any other failure as text."""
        started = self._clock.monotonic()
        given: ToolOutput | None = None
        try:
            given, text = self._perform(call, context.at(call.id))
        except StopRun:
            raise
        except AgentError as error:
            text = _for_model(error)
        except Exception as error:  # a tool's bug must not end the run; the log has the traceback
            logger.warning("%s failed", call.name, exc_info=True)
            text = f"{call.name} failed: {type(error).__name__}: {_first_line(error)}"
        result = ToolResult(
            call.id, call.name, given.text if given else cut(self._mask(text), ERROR_CHARACTERS), given is None
        )
        denied = given is None and self._is_denied(call.name, context)
        return Called(result, given, self._clock.monotonic() - started, denied)

    def preview(self, call: ToolCall, context: RunContext) -> tuple[Draft, ...]:
        """The notes that a call would change, before and after; changes nothing and asks nobody.

        Raises `ToolRetry` or `ToolFailed` for a call that cannot be performed, and what the tool's plan raises.
        """
        tool = next((each for each in self.visible(context) if each.name == call.name), None)
        if tool is None or tool.effect is None:
            raise ToolFailed(f"what {call.name} would change cannot be shown in advance")
        if found := problems(call.arguments, tool.parameters):
            raise ToolRetry("\n".join((f"{call.name} was not called:", *found)))
        return tool.effect.plan(call.arguments, context)

    def _perform(self, call: ToolCall, context: RunContext) -> tuple[ToolOutput | None, str]:
        if call.problem:
            return None, f"{call.name} was not called: its arguments could not be read: {call.problem}"
        left = {tool.name: tool for tool in self.visible(context)}
        tool = left.get(call.name)
        if tool is not None:
            return tool.perform(call.arguments, context), ""
        if any(each.name == call.name for each in self._allowed(context)):
            return None, f"{call.name} is not among the tools that this run's skills allow; use {', '.join(left)}"
        known = _unknown(call.name, tuple(left))
        return None, f"{self._gone[call.name].absence()}; {known}" if call.name in self._gone else known

    def _is_denied(self, name: str, context: RunContext) -> bool:
        names = {each.name for each in self._of(context)}
        return name in names and all(each.name != name for each in self._allowed(context))

    def _allowed(self, context: RunContext) -> Iterable[Tool]:
        policy = self._policies.choose(context).policy
        return (each for each in self._of(context) if policy.permission(each.name, each.groups) is not Permission.DENY)

    def _of(self, context: RunContext) -> Iterable[Tool]:
        """The tools that exist for the purpose of a run."""
        return (each for each in self._tools.values() if not each.only_for or context.purpose in each.only_for)


def _unknown(name: str, names: Sequence[str]) -> str:
    shown = ascii(name[:80])[1:-1]
    if not names:
        return f"there is no tool {shown}: this run has no tools"
    near = get_close_matches(name[:80], names, n=3, cutoff=0.5)
    return f"there is no tool {shown}; " + (f"did you mean {' or '.join(near)}?" if near else f"use {', '.join(names)}")


def _for_model(error: AgentError) -> str:
    """The error with its hint, unless that is a command, which only a person can type."""
    return f"{error.message} ({error.hint})" if error.hint and "vault-agent " not in error.hint else error.message


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else "no reason given"
