"""The tools by name, and the only place that performs a model's calls.

Here an action of a tool is a tool of its own, `jobs.add` (`tool_names`); only a model sees them as one (`specs_of`).

Around each tool, from the outside: policy, schema, once, whole, approval, frame, cut, mask, time limit. Every failure
becomes text for the model, and the run continues; only errors that end or pause a run on purpose are raised.
"""

import logging
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Protocol, TypeVar

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import AgentError, StopRun, ToolFailed, ToolRetry
from agent.llm.messages import ToolCall, ToolResult, ToolSpec
from agent.tools.arguments import problems, with_types
from agent.tools.policy import GROUPS, Permission, Policies
from agent.tools.taint import framed
from agent.tools.tool import Draft, RunContext, Tool, ToolOutput
from agent.tools.tool_names import ACTION, ACTIONS, EARLIER, resolved, specs_of, whole_tool
from agent.tools.wrappers import capped, checked, cut, masked, once, timed, whole

ERROR_CHARACTERS = 2000
"""The most characters of an error shown to the model."""

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
T = TypeVar("T")
logger = logging.getLogger(__name__)


def is_tool_name(name: str) -> bool:
    """True for plain words with `_` between them."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Called:
    """The result of a call: the `tool`, or action of one, the message for the model, the tool's output (None: it
    failed), the duration in seconds, and true for a tool that the policy denies."""

    tool: str
    result: ToolResult
    output: ToolOutput | None
    seconds: float
    denied: bool = False


MayUse = Callable[[Tool, RunContext], bool]
"""Function from (tool, run context) to True if the run may use the tool; only restricts the policy."""


class ToolSource(Protocol):
    """Tools that come and go while runs live, such as those of another program."""

    def tools(self) -> Sequence[Tool]:
        """The tools that exist now; asked for before each step, so it must be quick. A tool that has not changed is
        the same object each time."""
        ...

    def known(self) -> Sequence[Tool]:
        """The tools that exist now, and those that existed before, also in another process."""
        ...

    def absence(self) -> str:
        """Why there are fewer tools than before, for the model."""
        ...


class Registry:
    """All tools, wrapped: those that are there from the start, and those of `sources`, as of the last `update`.

    `guard` wraps a tool so that a call needs a person's approval if the policy or a taint requires it; a tool for which
    `leaves` is False may not be called, though it is described: what a model is told of tools changes with no skill.
    `mask` removes secrets from results before they are cut. `about` makes the tools that need the registry itself. A
    tool of a source never takes the name of another one.

    Raises `ValueError` for two tools with one name, a name that is not plain words (`vault_read`: first the object,
    then the action) or an action (`jobs.add`), or an unknown group.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        policies: Policies,
        guard: Callable[[Tool, Policies], Tool],
        clock: Clock,
        leaves: MayUse = lambda tool, context: True,
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
        self._tools: dict[str, Tool] = {}
        self._come: dict[str, tuple[Tool, ToolSource]] = {}
        for tool in (*tools, *about(self)):
            is_plain = all(map(is_tool_name, tool.name.split(".", 1)))
            if tool.name in self._tools or not is_plain or not tool.groups <= GROUPS:
                raise ValueError(f"the tool {tool.name} has a name that is taken or not plain, or an unknown group")
            self._tools[tool.name] = self._wrapped(tool)

    def _wrapped(self, tool: Tool) -> Tool:
        safe = self._guard(framed(capped(masked(timed(tool), self._mask))), self._policies)
        return checked(once(whole(safe)))

    def update(self) -> None:
        """Take in the tools that have come, and drop those that have gone."""
        with self._turn:
            for source in self._sources:
                self._take_in(source, {tool.name: tool for tool in source.tools()})

    def _take_in(self, source: ToolSource, now: dict[str, Tool]) -> None:
        before = self._tools_of(source)
        gone = [name for name, tool in before.items() if now.get(name) is not tool]
        taken = self._tools.keys() - before.keys()
        new = [tool for name, tool in now.items() if before.get(name) is not tool and _may_come(tool, taken)]
        if not gone and not new:
            return
        tools = _without(self._tools, gone)
        self._come = _without(self._come, gone) | {tool.name: (tool, source) for tool in new}
        self._tools = tools | {tool.name: self._wrapped(tool) for tool in new}  # other threads read the old one

    def _tools_of(self, source: ToolSource) -> dict[str, Tool]:
        return {name: tool for name, (tool, owner) in self._come.items() if owner is source}

    def profile(self, context: RunContext) -> str:
        """The name of the profile of the policy that the run falls under."""
        return self._policies.choose(context).name

    def visible(self, context: RunContext) -> tuple[Tool, ...]:
        """The tools that the policy allows the run."""
        exist = (tool for tool in self._tools.values() if not tool.only_for or context.purpose in tool.only_for)
        return tuple(tool for tool in exist if self._policies.permission(tool, context) is not Permission.DENY)

    def permission(self, name: str, context: RunContext) -> Permission:
        """The permission of a run for the tool of this name; denied for one that does not exist."""
        tool = self._tools.get(name)
        return Permission.DENY if tool is None else self._policies.permission(tool, context)

    def specs(self, context: RunContext, *, seldom: bool = True) -> tuple[ToolSpec, ...]:
        """The specifications of the tools that the policy allows the run, for the model; without `seldom` only of those
        that a conversation begins with."""
        return specs_of(each for each in self.visible(context) if seldom or not each.seldom)

    def described(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        """The specifications of the tools with these names, in their order; of one that has gone, as it was."""
        known = {tool.name: tool for source in self._sources for tool in source.known()} | self._tools
        return specs_of(known[name] for name in (EARLIER.get(name, name) for name in names) if name in known)

    def is_readonly(self, call: ToolCall) -> bool:
        """True if the call changes nothing."""
        tool = self._tools.get(resolved(call).name)
        return tool is not None and tool.readonly

    def runs_with(self, call: ToolCall) -> str:
        """The kind of calls beside which a call may run: one kind for all that change nothing, the tool's own name for
        a parallel one, empty for one that runs alone."""
        tool = self._tools.get(resolved(call).name)
        if tool is None or not (tool.readonly or tool.parallel):
            return ""
        return "readonly" if tool.readonly else tool.name

    def call(self, call: ToolCall, context: RunContext) -> Called:
        """Perform a call. Raises only `StopRun`; the result has any other failure as text."""
        started = self._clock.monotonic()
        output: ToolOutput | None = None
        meant = resolved(call)
        try:
            output, text = self._perform(meant, context.at(call.id))
        except StopRun:
            raise
        except AgentError as error:
            text = _for_model(error)
        except Exception as error:  # a tool's bug must not end the run; the log has the traceback
            logger.warning("%s failed", meant.name, exc_info=True)
            text = f"{meant.name} failed: {type(error).__name__}: {_first_line(error)}"
        answer = output.text if output else cut(self._mask(text), ERROR_CHARACTERS)
        result = ToolResult(call.id, call.name, answer, output is None, output.images if output else ())
        is_denied = output is None and self._is_denied(meant.name, context)
        return Called(meant.name, result, output, self._clock.monotonic() - started, is_denied)

    def preview(self, call: ToolCall, context: RunContext) -> tuple[Draft, ...]:
        """The notes that a call would change, before and after; changes nothing and asks nobody.

        Raises `ToolRetry` or `ToolFailed` for a call that cannot be performed, and what the tool's plan raises.
        """
        call = resolved(call)
        tool = self._usable(context).get(call.name)
        if tool is None or tool.effect is None:
            raise ToolFailed(f"what {call.name} would change cannot be shown in advance")
        arguments = with_types(call.arguments, tool.parameters)
        if found := problems(arguments, tool.parameters):
            raise ToolRetry("\n".join((f"{call.name} was not called:", *found)))
        return tool.effect.plan(arguments, context)

    def _perform(self, call: ToolCall, context: RunContext) -> tuple[ToolOutput | None, str]:
        if call.problem:
            return None, f"{call.name} was not called: its arguments could not be read: {call.problem}"
        usable = self._usable(context)
        if (tool := usable.get(call.name)) is not None:
            return tool.perform(call.arguments, context), ""
        return None, self._why_not(call, context, tuple(usable))

    def _usable(self, context: RunContext) -> dict[str, Tool]:
        """The tools that the run may call."""
        return {tool.name: tool for tool in self.visible(context) if self._leaves(tool, context)}

    def _why_not(self, call: ToolCall, context: RunContext, usable: Sequence[str]) -> str:
        """Why a run cannot make a call, and what it can do instead."""
        name, whole = call.name, whole_tool(call.name)
        if not usable:  # who may use no tool hears nothing of the owner's machine
            return f"there is no tool {_printable(name)}: this run has no tools"
        tools = list(dict.fromkeys(map(whole_tool, usable)))
        instead = f"use {', '.join(tools)}"
        if any(each.name == name for each in self.visible(context)):
            return f"{name} is not among the tools that this run's skills allow; use {', '.join(usable)}"
        if self._is_denied(name, context):
            return f"there is no tool {name} here: the policy does not allow it in this run; {instead}"
        if whole in ACTIONS and (problem := _action_problem(call, whole, usable)):
            return problem
        if near := get_close_matches(name[:80], tools, n=3, cutoff=0.5):
            instead = f"did you mean {' or '.join(near)}?"
        return "; ".join([*self._absences(name), f"there is no tool {_printable(name)}", instead])

    def _absences(self, name: str) -> Iterator[str]:
        """Why the sources of a tool of this name do not offer it now."""
        return (source.absence() for source in self._sources if any(each.name == name for each in source.known()))

    def _is_denied(self, name: str, context: RunContext) -> bool:
        tool = self._tools.get(name)
        if tool is None or (tool.only_for and context.purpose not in tool.only_for):
            return False
        return self._policies.permission(tool, context) is Permission.DENY


def _printable(name: str) -> str:
    return ascii(name[:80])[1:-1]


def _for_model(error: AgentError) -> str:
    """The error with its hint, unless that is a command, which only a person can type."""
    return f"{error.message} ({error.hint})" if error.hint and "vault-agent " not in error.hint else error.message


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else "no reason given"


def _action_problem(call: ToolCall, whole: str, usable: Sequence[str]) -> str:
    """Why a call of a tool with actions was not made; empty if the run may use none of its actions."""
    actions = [each.partition(".")[2] for each in usable if whole_tool(each) == whole and "." in each]
    action = call.arguments.get(ACTION) if call.name == whole else call.name.partition(".")[2]
    problem = "needs an action" if action is None else f"has no action {_printable(str(action))}"
    return f"{whole} was not called: it {problem}; `{ACTION}` must be one of {', '.join(actions)}" if actions else ""


def _may_come(tool: Tool, taken: Collection[str]) -> bool:
    return tool.name not in taken and tool.groups <= GROUPS and is_tool_name(tool.name)


def _without(rows: Mapping[str, T], gone: Collection[str]) -> dict[str, T]:
    return {name: row for name, row in rows.items() if name not in gone}
