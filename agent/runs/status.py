"""The agent's status: the model, today's spend, and what waits for the person. Read from files, without a request."""

from collections.abc import Mapping
from dataclasses import field
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.llm.ledger import Ledger, SpendTotals
from agent.llm.spend_elsewhere import spent_elsewhere
from agent.runs.registry import run_registry
from agent.texts import Sentence, joined
from agent.vault.folders import MACHINES, QUESTIONS
from agent.vault.glance import has_asked, has_notes, has_rows
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:  # what tells of things that most vaults do not have is loaded where there are some
    from agent.llm.presets import ModelKind
    from agent.runs.machines import MachineNote, SessionElsewhere
    from agent.runs.reach import OutOfReach


GrowthPart: TypeAlias = Literal["reflections", "lessons", "mutations", "beliefs", "questions", "research", "patterns"]
_PARTS: tuple[GrowthPart, ...] = get_args(GrowthPart)
_BEGINNING = "growth/"


def growth_account(part: GrowthPart) -> str:
    """The name under which a part of growth asks models, and which its commits have as their job."""
    return f"{_BEGINNING}{part}"


def is_of_growth(job: str) -> bool:
    """True for a job that is a part of growth: nothing is reflected on, or learned from, its runs."""
    return job.startswith(_BEGINNING)


def growth_today(ledger: Ledger) -> SpendTotals:
    """The sum that all parts of growth have spent today; raises `Permanent` for a ledger that cannot be read."""
    return ledger.totals_of_jobs(ledger.today(), _BEGINNING)


def growth_parts_today(ledger: Ledger) -> Mapping[GrowthPart, SpendTotals]:
    """The sum that each part of growth has spent today, of those that have asked a model; raises as `growth_today`."""
    today = ledger.today()
    found = {part: ledger.totals_of_jobs(today, growth_account(part)) for part in _PARTS}
    return {part: spent for part, spent in found.items() if spent.calls}


SPEND = "spend"
"""The folder of the ledger, in the machine's state: the daily limits are per person, not per vault."""


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """The agent's status. `models` are the names of the models by kind of work, empty if none is configured.
    `misconfigured` is an error of the model's settings, and what helps; `problem` a missing key, or an error of the
    ledger.

    `reviews` and `suggestions` are the notes in approvals/ that ask to trust, and to learn, a skill.
    `waiting` are the sessions whose run waits for a person, `working` those with an active run. `arrived` are the notes
    in which a decision arrived that counts only if it is made here. `machines` are the other ones with this vault,
    `elsewhere` the sessions in progress there, `today_elsewhere` what they have spent as far as it is known. `growth`
    is the part of today's spend that went into what the agent does to itself, `growth_parts` the same by its parts.
    `out_of_reach` are the servers and calendars that could not be reached.
    """

    models: "Mapping[ModelKind, str]"
    today: SpendTotals | None
    approvals: int
    questions: int
    reviews: tuple[str, ...]
    suggestions: tuple[str, ...]
    waiting: tuple[str, ...]
    working: tuple[str, ...]
    problem: str = ""
    misconfigured: tuple[str, ...] = ()
    arrived: tuple[str, ...] = ()
    machines: "tuple[MachineNote, ...]" = ()
    elsewhere: "tuple[SessionElsewhere, ...]" = ()
    today_elsewhere: SpendTotals = SpendTotals()
    growth: SpendTotals = SpendTotals()
    growth_parts: Mapping[GrowthPart, SpendTotals] = field(default_factory=dict)
    out_of_reach: "tuple[OutOfReach, ...]" = ()

    @property
    def model(self) -> str:
        """The main model, empty for none."""
        return self.models.get("main", "")


def ledger_of(workspace: Workspace) -> Ledger:
    """The ledger of the cost of models on this machine."""
    return Ledger(workspace.directories.state / SPEND, workspace.vault.clock)


def agent_status(workspace: Workspace) -> AgentStatus:
    """The agent's status; opens no connection and changes nothing."""
    problems: list[str] = []
    models: Mapping[ModelKind, str] = {}
    today, growth, misconfigured = None, SpendTotals(), tuple[str, ...]()
    parts: Mapping[GrowthPart, SpendTotals] = {}
    if workspace.settings.is_set("llm"):  # else there is no model
        found = import_module("agent.runs.configured_models").model_status(workspace)
        models, misconfigured, problems = found.names, found.misconfigured, [*filter(None, [found.problem])]
    try:
        ledger = ledger_of(workspace)
        today, growth = ledger.totals(ledger.today()), growth_today(ledger)
        parts = growth_parts_today(ledger) if growth.calls else parts
        problems += (
            [Sentence("{count} calls of today cannot be read in the spend ledger", count=today.damaged)]
            if today.damaged
            else []
        )
    except AgentError as error:
        problems.append(error.message)
    marks = run_registry(workspace.vault)
    waiting = tuple(mark.session for mark in marks.waiting())
    working = tuple(mark.session for mark in marks.all() if marks.is_held(mark.id))
    approvals, questions, arrived = _asked(workspace, has_runs=any(marks.all()))
    problem = joined(problems, "; ")
    return AgentStatus(
        models,
        today,
        approvals,
        questions,
        _reviews(workspace.vault),
        _offers(workspace.vault),
        waiting,
        working,
        problem,
        misconfigured,
        arrived,
        _machines(workspace.vault),
        _sessions_elsewhere(workspace),
        spent_elsewhere(workspace.directories.state / SPEND, ledger_of(workspace).today()),
        growth,
        parts,
        _out_of_reach(workspace),
    )


def _asked(workspace: Workspace, *, has_runs: bool) -> tuple[int, int, tuple[str, ...]]:
    """The numbers of approvals and questions that wait, and the notes with a decision that arrived."""
    vault = workspace.vault
    is_asked = has_runs or has_asked(vault, "call", "remote_wait", "conflict")
    if not is_asked and not has_notes(vault, QUESTIONS):
        return 0, 0, ()
    decisions = import_module("agent.runs.decisions")
    questions = import_module("agent.runs.waiting_questions").waiting_questions(workspace)
    pending = decisions.approvals(workspace).pending()
    return len(pending), len(questions), decisions.arrived_decisions(workspace)


def _out_of_reach(workspace: Workspace) -> "tuple[OutOfReach, ...]":
    if not has_rows(workspace.vault, "out-of-reach"):
        return ()
    module = import_module("agent.runs.reach")
    return cast("tuple[OutOfReach, ...]", module.out_of_reach(workspace, "server", "calendar"))


def _reviews(vault: Vault) -> tuple[str, ...]:
    if not has_asked(vault, "skill_review"):
        return ()
    return tuple(each.path for each in import_module("agent.skills.trust.reviews").waiting_reviews(vault))


def _offers(vault: Vault) -> tuple[str, ...]:
    if not has_asked(vault, "skill_offer"):
        return ()
    return tuple(each.path for each in import_module("agent.asking.answers").undecided(vault, "skill_offer"))


def _machines(vault: Vault) -> "tuple[MachineNote, ...]":
    if not has_notes(vault, MACHINES):
        return ()
    return cast("tuple[MachineNote, ...]", import_module("agent.runs.machines").other_machines(vault))


def _sessions_elsewhere(workspace: Workspace) -> "tuple[SessionElsewhere, ...]":
    """The sessions in progress on other machines; reading one is slow to load, and most vaults are on one machine."""
    provenance = workspace.vault.provenance
    provenance.look()
    if provenance.database.is_empty():
        return ()
    module = import_module("agent.runs.sessions_elsewhere")
    return cast("tuple[SessionElsewhere, ...]", module.sessions_elsewhere(workspace))
