"""The values that all runs of a vault share: models, tools, sources, limits. Built by `app`, used by `run`.

What answers a person whose model fails before it has said or done anything in their run.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from itertools import combinations
from typing import TypeAlias

from agent.clock import Clock
from agent.config.run_settings import ContextSettings
from agent.config.run_settings import RunSettings as Limits
from agent.context.budget import Count
from agent.context.prompt import Audience, reader_for, system_part
from agent.context.source import Source
from agent.dataclass import dataclass
from agent.errors import (
    AgentError,
    Interrupted,
    LimitReached,
    LockHeld,
    NeedsApproval,
    Permanent,
    Retryable,
    Stopping,
    StopRun,
    UserError,
)
from agent.events.bus import Bus
from agent.events.runs import ToolCallFailed, ToolCallStarted, ToolCompleted
from agent.llm.messages import (
    Assistant,
    Cancelled,
    Model,
    OnText,
    Provider,
    Reply,
    Request,
    System,
    ToolCall,
    ToolResult,
    ToolSpec,
    ignore,
    never,
)
from agent.llm.providers import Providers
from agent.loop.records import RecordedEvent, RunRequest, Spoken
from agent.loop.session import Session
from agent.texts import Language, text
from agent.tools.arguments import main_argument
from agent.tools.registry import Called, Registry
from agent.tools.tool import RunContext
from agent.tools.tool_names import resolved
from agent.vault.obsidian import link_form
from agent.vault.store import Vault

FixedTexts: TypeAlias = Callable[[], tuple[str, ...]]
"""Makes the texts about the owner and the skills that a conversation begins with."""


def no_texts() -> tuple[str, ...]:
    """None: for a system message of the prompts alone."""
    return ()


@dataclass(frozen=True, slots=True)
class SystemMessages:
    """The system messages of one vault's sessions."""

    vault: Vault
    language: Language

    def new(self, audience: Audience, fixed: FixedTexts = no_texts) -> Spoken:
        """The message of a conversation that begins now; raises `UserError` for a prompt with a wrong variable."""
        folder = "" if audience is Audience.GUEST else self.vault.home.path
        read, link = reader_for(audience, self.vault.own_version_of), link_form(self.vault.place.root)
        text = system_part(read, self.language, folder, fixed(), link)
        return Spoken(System(self.vault.masked(text)), audience=audience.name.lower())

    def provide(self, session: Session, audience: Audience, fixed: FixedTexts = no_texts) -> None:
        """Give the session a new system message, unless it has the text of one for this audience."""
        events = (record.event for record in reversed(session.records) if isinstance(record.event, Spoken))
        last = next((each for each in events if isinstance(each.message, System)), None)
        if last is None or not last.message.text or last.audience != audience.name.lower():
            session.add(self.new(audience, fixed))


def all_left() -> float:
    """All: for models that cost nothing."""
    return 1.0


@dataclass(frozen=True, slots=True)
class Models(Providers):
    """The models of one run, metered on its account. `left` returns the part that is left of what the run may spend,
    from 0 to 1. `stand_in` answers a person where the main model fails before it has done anything; None: nothing
    does. `failure` is why it does, None while it does not."""

    left: Callable[[], float] = field(default=all_left, kw_only=True)
    stand_in: Provider | None = field(default=None, kw_only=True)
    failure: AgentError | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Agent:
    """One vault's agent. `models` returns the models for a run's id and its job (empty for none); `system` the system
    messages of sessions; `endnote` returns the text for
    people at the end of a run's note, empty for none."""

    vault: Vault
    clock: Clock
    bus: Bus
    models: Callable[[str, str], Models]
    tools: Registry
    system: SystemMessages
    sources: tuple[Source, ...]
    count: Count
    limits: Limits
    context: ContextSettings
    language: Language
    endnote: Callable[[str], str]


PARALLEL = 4
"""Calls that may run at the same time."""


def refused_calls(calls: Sequence[ToolCall], most: int) -> tuple[ToolResult, ...]:
    """A failed result for each call of one answer after the first `most`; it states that the call was not carried
    out."""
    problem = f"not carried out: at most {most} calls of one answer are; ask again for what is still needed"
    return tuple(ToolResult(call.id, call.name, problem, failed=True) for call in calls[most:])


def all_differ(calls: Sequence[ToolCall]) -> bool:
    """True if no call occurs twice: the second of two equal calls may depend on the first one's failure."""
    return len(calls) > 1 and not any(
        one.name == other.name and one.arguments == other.arguments for one, other in combinations(calls, 2)
    )


def call_started(call: ToolCall, described: Iterable[ToolSpec], context: RunContext) -> ToolCallStarted:
    """The event for the beginning of a call; `described` are the tools described to the model."""
    schema, meant = next((spec.parameters for spec in described if spec.name == call.name), {}), resolved(call)
    return ToolCallStarted(context.run, context.session, call.id, meant.name, main_argument(meant.arguments, schema))


def call_ended(result: ToolResult, called: Called, context: RunContext) -> ToolCompleted | ToolCallFailed:
    """The event for the end of a call; `result` is what the model sees of it."""
    run, session, seconds = context.run, context.session, called.seconds
    if result.failed:
        return ToolCallFailed(run, session, result.call, called.tool, seconds, result.text, called.denied)
    return ToolCompleted(run, session, result.call, called.tool, seconds, len(result.text))


def call_together(
    perform: Callable[[ToolCall], Called], calls: Sequence[ToolCall]
) -> tuple[list[tuple[ToolCall, Called]], StopRun | None]:
    """Perform calls at the same time, each to its end; one that stops the run does not stop the others.

    Returns the results in the order of the calls, and the error that stops the run: a person's stop, else the first.
    """
    with ThreadPoolExecutor(PARALLEL, "vault-agent-tool") as pool:
        futures = [pool.submit(perform, call) for call in calls]
    done: list[tuple[ToolCall, Called]] = []
    stops: list[StopRun] = []
    for call, future in zip(calls, futures, strict=True):
        try:
            done.append((call, future.result()))
        except StopRun as stop:
            stops.append(stop)
    return done, next((stop for stop in stops if isinstance(stop, Interrupted)), stops[0] if stops else None)


def asked_with(stop: NeedsApproval, agent: Agent, calls: Iterable[ToolCall], context: RunContext) -> NeedsApproval:
    """The stop, once the person was asked about all of these calls that need a yes, too, as `context` says."""
    outputs = (agent.tools.call(call, context.at(call.id)).output for call in calls)
    others = dict.fromkeys(each.text for each in outputs if each is not None and each.text not in {"", stop.path})
    if not others:
        return stop
    waits = text("approval.too", agent.language, first=stop.message, others=", ".join(others))
    return NeedsApproval(waits, path=stop.path, hint=stop.hint)


def results_with_calls(events: Iterable[RecordedEvent]) -> Iterator[tuple[ToolCall, ToolResult]]:
    """The results in a run's events, each with its call."""
    calls: dict[str, ToolCall] = {}
    for event in events:
        match event:
            case Spoken(Assistant(calls=asked)):
                calls |= {call.id: call for call in asked}
            case Spoken(ToolResult(call=id) as result) if id in calls:
                yield calls[id], result


def unfinished_result(call: ToolCall) -> ToolResult:
    """The result of a call that was not carried out before the end of the run."""
    return ToolResult(call.id, call.name, "not carried out: the run it belonged to was over", failed=True)


NO_ANSWER = (Retryable, Permanent, UserError, LimitReached)
"""The errors of a model that does not answer, or may not be asked any more today."""

logger = logging.getLogger(__name__)


def with_stand_in(models: Models, failure: AgentError, asked: RunRequest, session: Session, run: str) -> Models:
    """The models with the stand-in as the main one, for the rest of the run; raises the failure where nothing stands
    in: in sub-runs and work that no person waits for, once the model has said or done something, and at a limit that
    leaves the model a last call."""
    is_persons = "." not in run and not asked.job and not asked.purpose
    is_passing = isinstance(failure, LockHeld | Stopping) or (isinstance(failure, LimitReached) and failure.concludes)
    if models.stand_in is None or not is_persons or is_passing or session.model_messages(run):
        raise failure
    return replace(models, main=_StandIn(models.stand_in, failure), stand_in=None, failure=failure)


@dataclass(frozen=True, slots=True)
class _StandIn:
    """A `Provider` that raises the model's failure if it cannot answer either."""

    provider: Provider
    failure: AgentError

    @property
    def model(self) -> Model:
        return self.provider.model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The text of the stand-in."""
        try:
            return self.provider.chat(request, on_text, cancelled)
        except (AgentError, OSError) as error:
            logger.warning("nothing could be quoted in place of an answer: %s", error)
            raise self.failure from None
