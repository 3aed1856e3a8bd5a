"""One past task done again by the model, with the recorded results in place of tools.

It comes out well if the run finishes, asks again for all that it changed then, and says at least half of the words with
which the person was content. A task that failed then comes out well if it finishes now.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from agent.context.source import Piece
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted
from agent.events.receipt import MEMORIES
from agent.events.runs import Speaker
from agent.growth.gate.past_tasks import PastTask
from agent.growth.gate.recorded_tools import NotMeasurable, RecordedResults
from agent.index.analysis import terms
from agent.llm.messages import Reply, Request
from agent.llm.provider import Cancelled, Model, OnText, Provider, ignore, never
from agent.loop.agent import Models
from agent.loop.request import RunRequest
from agent.runs.accounts import Accounts
from agent.runs.growth_spend import growth_account
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.tools.policy import DEFAULT, Policies, Policy, Profile, RunFilter
from agent.tools.registry import Registry
from agent.tools.tool import Tool

ReplayResult: TypeAlias = Literal["well", "badly", "not_measurable"]
KEPT = 0.5
"""The share of the words of the answer then that a good answer now has: another wording of the same says fewer, and
another answer to the same question, of the same names and subjects, more than none."""
ACCOUNT = growth_account("trials")
"""The job on whose account the models of replays are asked."""
_CHANNEL = "cli"
_ALL = Policies((Profile(DEFAULT, RunFilter(), Policy()),))
"""The tools were chosen by the person's policy already."""


@dataclass(frozen=True, slots=True)
class Replay:
    """How a task came out, with the model's answers that it took."""

    result: ReplayResult
    steps: int = 0


def replay(runs: RunService, task: PastTask, account: Accounts, spend: float, cancelled: Cancelled = never) -> Replay:
    """Do a task again with the agent of a scratch vault, on an account that may cost `spend` dollars a day.

    Raises `Interrupted` when it is cancelled.
    """
    recorded = RecordedResults(task)
    asked = RunRequest(task.task, Speaker(_CHANNEL))
    known = runs.agent.tools.visible(asked.context("", ""))
    readonly = {tool.name for tool in known if tool.readonly}
    runs.account = _metered(runs.account, account, spend)
    runs.agent = replace(
        runs.agent, tools=_registry(runs, recorded.tools(known)), sources=(_RecordedMemories(task.memories),)
    )
    ended = runs.ask(asked, line=RunIO(cancelled=cancelled))
    if cancelled():
        raise Interrupted("stopped by you")
    if isinstance(ended.failure, NotMeasurable):
        return Replay("not_measurable", ended.steps)
    is_well = ended.outcome == "finished" and (not task.answer or _is_as_good(task, ended.answer, recorded, readonly))
    return Replay("well" if is_well else "badly", ended.steps)


def _is_as_good(task: PastTask, answer: str, recorded: RecordedResults, readonly: set[str]) -> bool:
    return recorded.is_all_done(readonly) and share_kept(task.answer, answer) >= KEPT


def share_kept(then: str, now: str) -> float:
    """The share of the words of one text that another has, 0 to 1; 1 for a text without words."""
    wanted = frozenset(terms(then))
    return len(wanted & frozenset(terms(now))) / len(wanted) if wanted else 1.0


def _registry(runs: RunService, tools: Sequence[Tool]) -> Registry:
    clock, mask = runs.workspace.vault.clock, runs.workspace.vault.masked
    return Registry(tools, _ALL, lambda tool, policies: tool, clock, runs.following.leaves, mask)


@dataclass(frozen=True, slots=True)
class _RecordedMemories:
    """The memories that the task was given then, in place of a search for them."""

    text: str

    @property
    def name(self) -> str:
        return MEMORIES

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        """The recorded text, for any task."""
        return [Piece(self.text, self.name, 1.0)] if self.text else []


@dataclass(frozen=True, slots=True)
class _NoExcuse:
    """A model whose absence, or limit of spend, makes a replay say nothing instead of counting against the change."""

    provider: Provider

    @property
    def model(self) -> Model:
        return self.provider.model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The model's reply; raises `NotMeasurable` for any failure of the model but a stop."""
        try:
            return self.provider.chat(request, on_text, cancelled)
        except Interrupted:
            raise
        except AgentError as error:
            raise NotMeasurable(error.message) from error


def _metered(scratch: Accounts, account: Accounts, spend: float) -> Accounts:
    """The models of the person's settings on the account of the gate, in their own ledger."""

    def of_run(run: str, job: str, own: float | None = None, /) -> Models:
        return account.of_run(run, ACCOUNT, spend).wrapped(_NoExcuse)

    return replace(scratch, models=account.models, ledger=account.ledger, of_run=of_run)
