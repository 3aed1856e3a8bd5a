"""A meter on a model: reserves each attempt in the ledger before it is sent, and refuses one that could pass a ceiling.

So the cost of a run or a day passes its ceiling by at most one attempt, also beside other processes and after a kill.
Durable records are left to `ledger`, prices to `known_models`, the ceilings to the settings.
"""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from math import inf
from typing import Literal, TypeAlias

from agent.clock import Clock
from agent.config.run_settings import SpendSettings
from agent.dataclass import dataclass
from agent.errors import AgentError, LimitReached, MissingKey
from agent.llm.answer_text import Attempt
from agent.llm.known_models import ModelPrice, cost
from agent.llm.ledger import Ledger, LedgerEntry, LockedLedger, SpendScope, SpendTotals
from agent.llm.messages import (
    IMAGE_TOKENS,
    Assistant,
    Cancelled,
    Message,
    Model,
    OnText,
    Provider,
    Reply,
    Request,
    ToolCall,
    ToolResult,
    Usage,
    ignore,
    never,
)
from agent.llm.wire import Wire
from agent.texts import Sentence

CountTokens: TypeAlias = Callable[[str], int]
"""The number of tokens of a text, at least approximately."""

OF_ONE_JOB = "job.daily"
"""The limit of what one job may cost on a day; not a setting, it stands with the job."""
_SHORTEST = 4_096
"""Tokens of the longest answer below which a request is not shortened to save money."""
_PER_MESSAGE = 4
_MARGIN = 1.1
"""A tenth is added to our count, since each provider has its own tokenizer."""
_ROUNDING = 1e-9

logger = logging.getLogger(__name__)


def nothing_elsewhere(day: date, mine: SpendTotals) -> SpendTotals:
    """No cost on other machines."""
    return SpendTotals()


@dataclass(frozen=True, slots=True)
class Meter:
    """A `Provider` whose attempts are counted and limited; also the `SpendAccount` of a wire that retries.

    `price` is None if it is unknown. `elsewhere` returns what is known of a day's cost on the person's other machines,
    for the limits of a day; it is given what this machine will have spent, so that this can be shown to the others
    first: of two that spend the last of a day's money at one moment, one sees the other. `job_daily` is what all runs
    of the scope's job together may cost on a day, in US dollars; None: no limit of its own.
    """

    provider: Provider
    ledger: Ledger
    ceilings: SpendSettings
    price: ModelPrice | None
    count: CountTokens
    clock: Clock
    scope: SpendScope
    elsewhere: Callable[[date, SpendTotals], SpendTotals] = nothing_elsewhere
    job_daily: float | None = None

    @property
    def model(self) -> Model:
        return self.provider.model

    def on(self, scope: SpendScope) -> "Meter":
        """The same model on the account of another run."""
        return replace(self, scope=scope)

    def spent(self) -> SpendTotals:
        """The cost of this run and its sub-runs so far."""
        return self.ledger.totals_of(self.scope.run)

    def left(self) -> float:
        """The part that is left of what the run may spend, from 0 to 1: calls, tokens or money, whichever is least."""
        spent, most = self.spent(), self.ceilings
        used = ((spent.calls, most.calls_per_run), (spent.tokens, most.run_tokens), (spent.money, most.run))
        return max(min(1 - part / whole if whole else 1.0 for part, whole in used), 0.0)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The model's reply; raises `LimitReached` before an attempt is sent, and `Permanent` when the ledger
        fails."""
        if isinstance(self.provider, Wire):
            return self.provider.chat_on(self, request, on_text, cancelled)

        with self.attempt(request) as attempt:

            def pass_on(text: str) -> None:
                attempt.add(text)
                on_text(text)

            reply = self.provider.chat(request, pass_on, cancelled)
            usage = reply.usage
            if not usage.input and not usage.output:
                usage = Usage(estimate(request, self.count), self.count(_answer_text(reply.message)))
            attempt.reported, attempt.final = usage, True
            return replace(reply, usage=usage)

    def affordable(self, request: Request) -> Request:
        """The request, with an answer that is short enough for what is left of the money; one of `_SHORTEST` tokens is
        tried in any case, so that a ceiling is reached by what is spent and not by what might be."""
        if self.price is None or request.max_output <= _SHORTEST:
            return request
        day = self.ledger.today()
        with self.ledger.exclusive() as page:
            run = _Account("run", page.totals_of(self.scope.run), self.ceilings.run_tokens, self.ceilings.run)
            left = min(each.money - each.spent.money for each in (run, *self._of_day(page, day)))
        wanted = self._wanted(request)
        a_token = cost(self.price, Usage(output=_SHORTEST)) / _SHORTEST
        room = int((left - cost(self.price, replace(wanted, output=0))) / a_token) if a_token else request.max_output
        return replace(request, max_output=max(min(request.max_output, room), _SHORTEST))

    @contextmanager
    def attempt(self, request: Request) -> Iterator[Attempt]:
        """Reserve one attempt in the ledger, and settle it on leaving; see `SpendAccount`."""
        reserved = self._reserve(request)
        attempt = Attempt(self.count, request.max_output)
        try:
            yield attempt
        except (MissingKey, LimitReached):
            self._settle(reserved, Usage())  # nothing was sent
            raise
        except BaseException as error:
            self._settle(reserved, attempt.used_after(error, reserved.entry.usage))
            raise
        self._settle(reserved, attempt.used(reserved.entry.usage))

    def _reserve(self, request: Request) -> "_Reservation":
        wanted = self._wanted(request)
        money = None if self.price is None else cost(self.price, wanted)
        day = self.ledger.today()
        entry = LedgerEntry(self.clock.new_id(), self.scope, self.model.name, replace(wanted, written=0), money)
        with self.ledger.exclusive() as page:
            self._check(page, day, entry)
            page.write(day, entry)
        return _Reservation(day, entry)

    def _wanted(self, request: Request) -> Usage:
        """The most that a request may use: all of its input stored in the cache, and the longest answer."""
        input = estimate(request, self.count)
        return Usage(input, request.max_output, written=input)

    def _check(self, page: LockedLedger, day: date, entry: LedgerEntry) -> None:
        """Raise `LimitReached` when the highest possible cost of this call would pass a ceiling."""
        ceilings, run = self.ceilings, page.totals_of(self.scope.run)
        tokens = entry.usage.input + entry.usage.output
        if run.calls + 1 > ceilings.calls_per_run:
            raise LimitReached(
                "this run has made {calls:,} calls of a model, as many as it may",
                limit="spend.calls_per_run",
                hint=_raise_it("spend.calls_per_run", ceilings.calls_per_run, run.calls + 1),
                calls=run.calls,
            )
        for each in (_Account("run", run, ceilings.run_tokens, ceilings.run), *self._of_day(page, day, entry)):
            is_run, (of_tokens, of_money) = each.kind == "run", _KEYS[each.kind]
            if each.spent.tokens + tokens > each.tokens:
                problem = Sentence(_HAS_USED[each.kind], tokens=tokens, used=each.spent.tokens, most=each.tokens)
                hint = _raise_it(of_tokens, each.tokens, each.spent.tokens + tokens)
                raise LimitReached(problem, limit=of_tokens, hint=hint, concludes=is_run)
            if entry.money and each.spent.money + entry.money > each.money + _ROUNDING:
                problem = Sentence(_HAS_COST[each.kind], cost=entry.money, paid=each.spent.money, allowed=each.money)
                hint = _raise_it(of_money, each.money, each.spent.money + entry.money)
                raise LimitReached(problem, limit=of_money, hint=hint, concludes=is_run)

    def _of_day(self, page: LockedLedger, day: date, more: LedgerEntry | None = None) -> Iterator["_Account"]:
        """The accounts of a day: everything, and for a job also all jobs, and its own runs."""
        ceilings, today = self.ceilings, page.totals(day)
        elsewhere = self.elsewhere(day, today if more is None else today.with_call(more))
        both = Usage(today.tokens + elsewhere.tokens, 0)
        together = SpendTotals(usage=both, money=today.money + elsewhere.money)
        yield _Account("day", together, ceilings.daily_tokens, ceilings.daily)
        if self.scope.job:
            yield _Account("jobs", page.totals_of_job(day), ceilings.jobs_tokens, ceilings.jobs)
        if self.scope.job and self.job_daily is not None:
            yield _Account("job", page.totals_of_job(day, self.scope.job), inf, self.job_daily)

    def _settle(self, reserved: "_Reservation", usage: Usage) -> None:
        """Replace the reservation by the usage; when that fails, the reservation still counts."""
        money = None if self.price is None else cost(self.price, usage)
        try:
            with self.ledger.exclusive() as page:
                page.write(reserved.day, replace(reserved.entry, usage=usage, money=money, open=False))
        except AgentError as error:
            logger.warning("a call counts with what was reserved for it: %s", error.message)


@dataclass(frozen=True, slots=True)
class _Account:
    """An account: what was spent of a limit, and the most tokens and dollars that it allows."""

    kind: Literal["run", "day", "jobs", "job"]
    spent: SpendTotals
    tokens: float
    money: float


@dataclass(frozen=True, slots=True)
class _Reservation:
    day: date
    entry: LedgerEntry


def estimate(request: Request, count: CountTokens) -> int:
    """The estimated tokens of a request, rather too many than too few."""
    tools = sum(count(f"{tool.name} {tool.description} {json.dumps(tool.parameters)}") for tool in request.tools)
    messages = sum(count(_text(message)) + _PER_MESSAGE for message in request.messages)
    messages += sum(IMAGE_TOKENS * len(each.images) for each in request.messages if isinstance(each, ToolResult))
    return int((tools + messages) * _MARGIN) + _PER_MESSAGE


def _text(message: Message) -> str:
    match message:
        case Assistant(thinking=thinking):
            return " ".join(
                [_answer_text(message), *(json.dumps(each, ensure_ascii=False, default=dict) for each in thinking)]
            )
        case ToolResult(name=name, text=text):
            return f"{name} {text}"
        case _:
            return message.text


def _answer_text(message: Assistant) -> str:
    return " ".join([message.text, *map(_call, message.calls)])


def _call(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(call.arguments, ensure_ascii=False, default=dict)}"


_HAS_USED = {
    "run": "the next call may take {tokens:,} tokens and this run has used {used:,} of {most:,}",
    "day": "the next call may take {tokens:,} tokens and this day has used {used:,} of {most:,}",
    "jobs": "the next call may take {tokens:,} tokens and the jobs have used {used:,} of {most:,} today",
}
_HAS_COST = {
    "run": "the next call may cost ${cost:.4f} and this run has cost ${paid:.4f} of ${allowed:g}",
    "day": "the next call may cost ${cost:.4f} and this day has cost ${paid:.4f} of ${allowed:g}",
    "jobs": "the next call may cost ${cost:.4f} and the jobs have cost ${paid:.4f} of ${allowed:g} today",
    "job": "the next call may cost ${cost:.4f} and this job has cost ${paid:.4f} of ${allowed:g} today",
}
_KEYS = {
    "run": ("spend.run_tokens", "spend.run"),
    "day": ("spend.daily_tokens", "spend.daily"),
    "jobs": ("spend.jobs_tokens", "spend.jobs"),
    "job": ("", OF_ONE_JOB),
}
"""The limits of tokens and of money."""
_PLAIN = 100_000
"""From here on a number is written out: none is a setting with an exponent."""


def _raise_it(key: str, now: float, needed: float) -> Sentence:
    """How to allow twice as much as now, or as is needed."""
    if key == OF_ONE_JOB:
        return Sentence("the job itself says what it may cost a day: raise it there")
    more = max(2 * now, 2 * needed, 1)
    amount = f"{more:g}" if more < _PLAIN else f"{more:.0f}"
    return Sentence("vault-agent config set {key} {more} allows more", key=key, more=amount)
